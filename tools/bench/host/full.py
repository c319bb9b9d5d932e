# SPDX-License-Identifier: GPL-2.0
"""make bench: everything, and the report."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import boot
import circumstances
import paths
import report
import results
import suite
import wall
from paths import lab
from plan import Scenario
from results import Result
from summary import Summary

# The name of the column or row, and the module that is loaded.
OURS, C, NONE = "ours", "c", "none"


def run(driver: str, command: str, target: Path, seeds: tuple[int, ...] = suite.SEEDS) -> int:
    """Measures, writes the files, prints the table; fails when something could not be measured."""
    began = time.monotonic()
    facts = circumstances.gather(command)
    found: list[Result] = []
    driver = _snapshot(suite.module_of(driver))
    jobs = _jobs(driver, seeds)
    for i, (name, module, scenarios, seed, memory) in enumerate(jobs):
        boot.say(f"boot {i + 1} of {len(jobs)}, {(time.monotonic() - began) / 60:.0f} minutes so far")
        found += _boot(name, module, scenarios, seed, memory)
        # What is there is kept, should a later boot fail.
        results.save(found, paths.cache() / "unfinished.json")
    boot.say("and the check by the clock")
    clock = wall.measure(driver)
    facts["minutes"] = f"{(time.monotonic() - began) / 60:.0f}"
    write(target, facts, found, clock)
    print(report.terminal(Summary(found), clock))
    return complain(found)


def again(target: Path, others: bool, clock: bool, driver: str) -> int:
    """The report anew from the last figures; what needs no module of ours is measured again if asked for,
    and the check by the clock."""
    kept = json.loads((target / "results.json").read_text())
    found, timed = results.from_list(kept["results"]), wall.Wall(**kept["clock"])
    if others:
        found = [one for one in found if one.driver != NONE]
        for seed in suite.SEEDS:
            found += _boot(NONE, "none", suite.SYSTEMS, seed, boot.MEMORY_MIB)
    if clock:
        timed = wall.measure(driver)
    write(target, kept["circumstances"], found, timed)
    print(report.terminal(Summary(found), timed))
    return complain(found)


def write(target: Path, facts: dict[str, str], found: list[Result], clock: wall.Wall) -> None:
    """The machine-readable file, the report and its plots."""
    target.mkdir(parents=True, exist_ok=True)
    everything = {"circumstances": facts, "clock": asdict(clock), "results": results.to_list(found)}
    (target / "results.json").write_text(json.dumps(everything, indent=1) + "\n")
    for name, text in report.files(Summary(found), facts, clock).items():
        (target / name).write_text(text)
    boot.say(f"the report is in {target}")


def complain(found: list[Result]) -> int:
    """Says what is missing, and what makes a figure doubtful."""
    for result in found:
        if result.why_not():
            boot.say(f"{result.driver}: {result.label}, seed {result.seed}: {result.why_not()}")
        elif result.outcome.retransmits:
            boot.say(f"{result.driver}: {result.label}, seed {result.seed}: {result.outcome.retransmits} retransmits")
    return 1 if any(result.failed() for result in found) else 0


def _snapshot(module: str) -> str:
    """A copy: the module may be built anew while this runs, and all boots must have the same."""
    if module == "intree":
        return "c"
    copy = paths.cache() / "under-test.ko"
    shutil.copyfile(module, copy)
    return str(copy)


def _jobs(driver: str, seeds: tuple[int, ...]) -> list[tuple[str, str, list[Scenario], int, int]]:
    both = ((OURS, suite.module_of(driver)), (C, suite.module_of("c")))
    jobs = []
    for seed in seeds:
        for name, module in both:
            jobs.append((name, module, suite.DRIVER, seed, boot.MEMORY_MIB))
        jobs.append((NONE, "none", suite.SYSTEMS, seed, boot.MEMORY_MIB))
    for name, module in both:
        jobs.append((name, module, suite.SCALE, seeds[0], suite.SCALE_MEMORY_MIB))
    return jobs


def _boot(name: str, module: str, scenarios: list[Scenario], seed: int, memory: int) -> list[Result]:
    """A boot that fails is not the end of the others."""
    try:
        return results.of_boot(name, boot.run(name, module, scenarios, seed, memory), scenarios)
    except lab.Error as error:
        boot.say(f"{name}: {error}")
        lost = boot.lost(scenarios, seed, str(error))
        return results.of_boot(name, lost, scenarios)
