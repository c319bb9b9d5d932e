# SPDX-License-Identifier: GPL-2.0
"""The stages of the tests. Each one returns what it counted; a stage that cannot
run has failed."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import fuzz as fuzzing
import ktap
import process
from ktap import Tally

PROJECT = Path(__file__).resolve().parents[2]
SELFTESTS = PROJECT / "tools/testing/selftests/ovpn"
TEST_LIST = SELFTESTS / "tests.list"
DEBUG_LIST = SELFTESTS / "debug.list"
LAB = Path(os.environ.get("OVPN_LAB", ""))

PYTHON_TESTS = ("tools/testing/tests", "tools/testing/selftests/ovpn/vm/tests", "tools/rust/tests", "tools/bench/tests")

MINUTE = 60
# What tests in the VM call, each a package of cargo.
PROGRAMS = ("packet-fuzz", "netlink-fuzz")

# Of each fuzz target, if FUZZ_SECONDS does not say.
FUZZ_SECONDS = 10
# Booting, and what a test that was stopped takes to be swept up.
VM_SPARE_SECONDS = 120

# Eleven scripts of up to 100 s each on an emulated CPU.
UPSTREAM_SECONDS = 25 * MINUTE

# vm/run multiplies its limit on a slow kernel; the one around it only has to be longer.
SLOWEST_KERNEL = 8

# Exit codes of vm/run that speak of the VM and not of the tests.
VM_TROUBLE = {
    121: "the VM could not be started",
    122: "the guest died",
    123: "the kernel complained, see above",
    124: "the VM reached its time limit",
}


@dataclass
class Context:
    """What a stage may know of the others, and of the person's wishes."""

    failed: set[str] = field(default_factory=set)
    only: list[str] = field(default_factory=list)
    module: str = "built"


def check(context: Context) -> Tally:
    done = process.run(["tools/check/check"], 15 * MINUTE, PROJECT)
    return _with_code(ktap.count(done.output), done, "check")


def host(context: Context) -> Tally:
    """The tools' own unit tests, and the driver's pure rooms compiled by cargo."""
    total = Tally()
    for folder in PYTHON_TESTS:
        done = process.run(
            ["sh", "-c", f"python3 -B -m unittest discover -s {folder} 2>&1"],
            2 * MINUTE,
            PROJECT,
            {"PYTHONPATH": str(PROJECT / folder / "..")},
        )
        total.add(_with_code(count_unittest(done.output), done, folder))
    target = {"CARGO_TARGET_DIR": str(LAB / "build/host")}
    done = process.run(["cargo", "test", "--locked"], 15 * MINUTE, PROJECT / "tools/testing/host", target)
    total.add(_with_code(count_cargo(done.output), done, "cargo test"))
    return total


def fuzz(context: Context) -> Tally:
    """Each pure room takes whatever libFuzzer comes up with, for FUZZ_SECONDS."""
    package = PROJECT / "tools/testing/host/fuzz"
    built = LAB / "build/fuzz-targets"
    done = process.run(
        ["cargo", "build", "--release", "--locked"], 15 * MINUTE, package, {"CARGO_TARGET_DIR": str(built)}
    )
    if done.code != 0:
        return _failed("building the fuzz targets", done)
    work = LAB / "fuzz"
    total = Tally()
    for verdict in fuzzing.run_all(package, built, work, int(os.environ.get("FUZZ_SECONDS", FUZZ_SECONDS))):
        if verdict.failure:
            print(f"# {verdict.target}: {verdict.failure}\n# the input is in {work}/{verdict.target}")
            total.fail(f"fuzz target {verdict.target}")
        else:
            print(f"# {verdict.target}: {verdict.runs} inputs")
            total.passed += 1
    return total


def build(context: Context) -> Tally:
    done = process.run(["make", "--no-print-directory", "modules"], 15 * MINUTE, PROJECT)
    return Tally(passed=1) if done.code == 0 else _failed("make modules", done)


def programs(context: Context) -> Tally:
    """What tests in the VM call."""
    total = Tally()
    for name in PROGRAMS:
        target = {"CARGO_TARGET_DIR": str(LAB / "build" / name)}
        done = process.run(["cargo", "build", "--release", "--locked"], 15 * MINUTE, PROJECT / "tools/testing" / name, target)
        total.add(Tally(passed=1) if done.code == 0 else _failed(f"building {name}", done))
    return total


def debug_build(context: Context) -> Tally:
    """The same module for the debug kernel, with line numbers for those who read its reports."""
    if not (LAB / "debug/release").exists():
        return _one_failure("there is no debug kernel, make it with: tools/lab/lab setup debug")
    command = ["make", "--no-print-directory", "modules", f"KDIR={LAB}/debug/tree", f"BUILD={LAB}/build/debug"]
    command += ["LLVM=-19", "KRUSTFLAGS=-Cdebuginfo=1", "KCFLAGS=-g1"]
    done = process.run(command, 15 * MINUTE, PROJECT)
    return Tally(passed=1) if done.code == 0 else _failed("make modules for the debug kernel", done)


def vm(context: Context) -> Tally:
    return _suite(context, TEST_LIST, context.only)


def upstream(context: Context) -> Tally:
    """Upstream's selftests, as they are. They measure time: nothing may run beside them."""
    if context.module == "built" and "build" in context.failed:
        return _one_failure("upstream's selftests could not run, there is no module")
    options = ["--upstream", "--module", context.module, "--timeout", str(UPSTREAM_SECONDS)]
    return _in_vm(options, ["/ovpn/vm/upstream", *context.only], UPSTREAM_SECONDS * 2, "upstream's selftests")


def debug(context: Context) -> Tally:
    """What only the debug kernel can tell, in a quarter of an hour."""
    total = debug_build(context)
    if not total.failed:
        total.add(_suite(context, DEBUG_LIST, [], "debug", "debug-build"))
    return total


def debug_vm(context: Context) -> Tally:
    """The same tests and some that only the debug kernel can run, in a boot of their own."""
    special = {Path(name).stem for name in read_list(DEBUG_LIST)}
    ours = [name for name in context.only if Path(name).stem in special]
    others = [name for name in context.only if name not in ours]
    total = Tally()
    if others or not context.only:
        total.add(_suite(context, TEST_LIST, others, "debug", "debug-build"))
    if ours or not context.only:
        total.add(_suite(context, DEBUG_LIST, ours, "debug", "debug-build"))
    return total


def _suite(context: Context, tests: Path, only: list[str], kernel: str = "stock", needs: str = "build") -> Tally:
    """The tests of a list, or only some of them, in one boot."""
    limits = read_list(tests)
    if not limits:
        return _one_failure(f"{tests} is missing or names no test")
    if needs in context.failed:
        result = Tally()
        result.fail("the tests in the VM could not run, there is no module", len(limits))
        return result
    timeout = sum(limits.values()) + VM_SPARE_SECONDS
    options = ["--kernel", kernel, "--timeout", str(timeout)]
    command = ["/ovpn/vm/suite", tests.name, *only]
    return _in_vm(options, command, timeout * SLOWEST_KERNEL, "the tests in the VM")


def _in_vm(options: list[str], command: list[str], seconds: float, what: str) -> Tally:
    """What a command counts in one boot."""
    done = process.run([f"{SELFTESTS}/vm/run", *options, "--", *command], seconds, PROJECT)
    result = ktap.count(done.output)
    if done.code in VM_TROUBLE:
        result.fail(VM_TROUBLE[done.code])
        return result
    return _with_code(result, done, what)


def bench(context: Context) -> Tally:
    """A TCP flow may not cost more than recorded; and what of nic.sh can be tested here."""
    if "build" in context.failed:
        return _one_failure("the benchmark could not run, there is no module")
    total = Tally()
    for command in ("guard", "nic-test"):
        done = process.run(["tools/bench/run", command], 10 * MINUTE, PROJECT)
        total.add(_with_code(ktap.count(done.output), done, f"tools/bench/run {command}"))
    return total


STAGES: dict[str, Callable[[Context], Tally]] = {
    "check": check,
    "host": host,
    "fuzz": fuzz,
    "build": build,
    "programs": programs,
    "vm": vm,
    "debug": debug,
    "upstream": upstream,
    "bench": bench,
}
# Only when asked for: on the debug kernel all tests take more than an hour.
DEBUG_STAGES: dict[str, Callable[[Context], Tally]] = {"debug-build": debug_build, "debug-vm": debug_vm}


def read_list(file: Path) -> dict[str, int]:
    """The tests of a list and their time limits in seconds."""
    limits = {}
    if file.exists():
        for line in file.read_text().splitlines():
            words = line.split()
            if len(words) >= 2 and not line.startswith("#"):
                limits[words[0]] = int(words[1])
    return limits


def count_cargo(output: str) -> Tally:
    """Sum up the "test result:" lines, one for each test program."""
    total = Tally()
    for line in re.finditer(r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M):
        total.add(Tally(int(line[1]), int(line[2]), int(line[3])))
    total.failures = re.findall(r"^test (\S+) \.\.\. FAILED", output, re.M)
    return total


def count_unittest(output: str) -> Tally:
    ran = re.search(r"^Ran (\d+) tests?", output, re.M)
    bad = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", output))
    total = Tally(passed=int(ran[1]) - bad if ran else 0, failed=bad)
    total.failures = re.findall(r"^(?:FAIL|ERROR): (.*)", output, re.M)
    return total


def _with_code(tally: Tally, done: process.Done, what: str) -> Tally:
    """A command that failed without a failed test, or that tested nothing, has failed."""
    if done.code != 0 and tally.failed == 0:
        tally.fail(f"{what}: {done.why()}")
    elif tally.total() == 0:
        tally.fail(f"{what}: no test ran")
    return tally


def _failed(what: str, done: process.Done) -> Tally:
    return _one_failure(f"{what}: {done.why()}")


def _one_failure(text: str) -> Tally:
    result = Tally()
    result.fail(text)
    return result
