# SPDX-License-Identifier: GPL-2.0
"""The fuzz targets of the pure rooms, one process for each CPU. Each begins with the corpus in the
repository; what it finds goes to a folder outside."""

import concurrent.futures
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TRIPLE = "x86_64-unknown-linux-gnu"
# How much longer than asked for a target may take before it is taken for hung.
SPARE_SECONDS = 60
OUTPUT_LINES = 30


@dataclass
class Verdict:
    """What came of one target."""

    target: str
    runs: int
    failure: str = ""


def targets(package: Path) -> list[str]:
    return sorted(file.stem for file in (package / "fuzz_targets").glob("*.rs"))


def run_all(package: Path, built: Path, work: Path, seconds: int) -> list[Verdict]:
    """Run every target for so many seconds, as many at a time as there are CPUs."""

    def one(target: str) -> Verdict:
        return _run(package, built / TRIPLE / "release" / target, work / target, seconds)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(one, targets(package)))


def _run(package: Path, program: Path, work: Path, seconds: int) -> Verdict:
    """The corpus is only read; new inputs and the one that fails are written below `work`."""
    target = program.name
    found = work / "corpus"
    found.mkdir(parents=True, exist_ok=True)
    corpus = package / "corpus" / target
    command = [str(program), f"-max_total_time={seconds}", "-timeout=10", "-use_value_profile=1"]
    command += [f"-artifact_prefix={work}/", str(found), *([str(corpus)] if corpus.is_dir() else [])]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds + SPARE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Verdict(target, 0, f"still running after {seconds + SPARE_SECONDS} s")
    output = done.stdout.decode(errors="replace")
    runs = re.search(r"^Done (\d+) runs", output, re.M)
    if done.returncode != 0 or runs is None:
        return Verdict(target, 0, f"exit code {done.returncode}\n" + "\n".join(output.splitlines()[-OUTPUT_LINES:]))
    return Verdict(target, int(runs[1]))
