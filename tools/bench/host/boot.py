# SPDX-License-Identifier: GPL-2.0
"""One boot of the counting machine: a plan goes in, outcomes and counts come out."""

import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import build
import image
import layout
import paths
from clocked import Clocked
from counting import Counting
from paths import lab
import accel  # of the VM runner
from machine import Machine
from plan import Outcome, Plan, Scenario

MEMORY_MIB = 1536
FOLDERS_KEPT = 12
SECONDS = 1500
SCRIPT_SECONDS = 300


@dataclass
class Boot:
    """What came of a boot. The folder holds counts, symbols and logs."""

    folder: Path
    seed: int
    seconds: float = 0.0
    outcomes: dict[str, Outcome] = field(default_factory=dict)


class Progress:
    """Tells on standard error how far the guest is, and collects what it says."""

    def __init__(self, title: str, boot: Boot) -> None:
        self._title = title
        self._boot = boot
        self._rest = b""
        self._began = time.monotonic()

    def __call__(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        with (self._boot.folder / "output.log").open("ab") as log:
            log.write(data)
        for line in lines:
            self._line(line.decode(errors="replace").strip())

    def _line(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "begin":
            say(f"{self._title}: {rest} ({time.monotonic() - self._began:.0f} s)")
        elif word == "outcome":
            outcome = Outcome(**json.loads(rest))
            self._boot.outcomes[outcome.label] = outcome
            if outcome.error:
                say(f"{self._title}: {outcome.label}: {outcome.error}")


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def run(title: str, module: str, scenarios: list[Scenario], seed: int = 1, memory: int = MEMORY_MIB) -> Boot:
    """Boots with a module (a path, 'intree' or 'none'), runs the scenarios and counts."""
    known = layout.known() or _learn_layout()
    return _count(title, module, Plan(scenarios), seed, known.arguments(), memory)


def lost(scenarios: list[Scenario], seed: int, why: str) -> Boot:
    """What stands for a boot that brought nothing."""
    return Boot(Path("/nonexistent"), seed, 0.0, {one.label: Outcome(one.label, error=why) for one in scenarios})


def run_script(title: str, module: str, script: str) -> int:
    """A script of the harness in the guest, not counted; its output goes to standard output."""
    folder = lab.new_run(paths.cache() / "run", FOLDERS_KEPT)
    which = accel.choose(folder)
    machine = Clocked(which, lab.existing("vmlinuz"), folder / "initramfs", folder, MEMORY_MIB, os.cpu_count() or 1)
    image.write(machine.initrd, module, Plan([], "none", script), build.binaries())
    say(f"{title}: booting")
    try:
        ended = machine.run(SCRIPT_SECONDS, _show)
    finally:
        machine.initrd.unlink()
    code = machine.exit_code()
    if not ended or code is None:
        raise lab.Error(f"the guest ended early or took longer than {SCRIPT_SECONDS} s, its logs are in {folder}")
    return code


def _show(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def run_by_the_clock(title: str, module: str, scenarios: list[Scenario]) -> tuple[Boot, str]:
    """The same without counting; also says what the guest ran on."""
    folder = lab.new_run(paths.cache() / "run", FOLDERS_KEPT)
    which = accel.choose(folder)
    machine = Clocked(which, lab.existing("vmlinuz"), folder / "initramfs", folder, MEMORY_MIB, os.cpu_count() or 1)
    return _run(title, module, Plan(scenarios, "none"), Boot(folder, 0), machine), which


def _learn_layout() -> layout.Layout:
    """The first boot with a kernel only asks it where its functions are."""
    boot = _count("symbols of the kernel", "none", Plan([], "all"), 1, [], MEMORY_MIB)
    return layout.learn(boot.folder / "kallsyms")


def _count(title: str, module: str, plan: Plan, seed: int, arguments: list[str], memory: int) -> Boot:
    folder = lab.new_run(paths.cache() / "run", FOLDERS_KEPT)
    machine = Counting("tcg", lab.existing("vmlinuz"), folder / "initramfs", folder, memory, 1,
                       plugin=build.binaries().plugin, arguments=arguments, seed=seed)
    return _run(f"{title}, seed {seed}", module, plan, Boot(folder, seed), machine)


def _run(title: str, module: str, plan: Plan, boot: Boot, machine: Machine) -> Boot:
    image.write(machine.initrd, module, plan, build.binaries())
    say(f"{title}: booting")
    start = time.monotonic()
    try:
        ended = machine.run(SECONDS, Progress(title, boot))
    finally:
        machine.initrd.unlink()
    boot.seconds = time.monotonic() - start
    code = machine.exit_code()
    if not ended or code != 0:
        what = "ended with an error" if code else "ended before its time (killed?)"
        if not ended:
            what = f"took longer than {SECONDS} s"
        raise lab.Error(f"the guest {what}, its logs are in {boot.folder}")
    for scenario in plan.scenarios:
        if scenario.label not in boot.outcomes:
            raise lab.Error(f"the guest says nothing of {scenario.label}, its logs are in {boot.folder}")
    return boot
