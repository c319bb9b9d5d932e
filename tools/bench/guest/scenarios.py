#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs in the guest: the scenarios of the plan, one after the other.

Each ends with a line "outcome JSON"; the counts go to the host by another way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

BENCH = Path("/ovpn/bench")
sys.path[:0] = [str(BENCH), "/ovpn/selftests/lib"]

import flow  # noqa: E402
import plan  # noqa: E402
import scale  # noqa: E402
import system  # noqa: E402
from ground import Ground  # noqa: E402
from plan import Outcome, Scenario  # noqa: E402

# What udev would load for the CPU: without it the generic cipher would be measured.
ACCELERATED = ("aesni-intel",)


def main() -> int:
    asked = plan.read((BENCH / "plan.json").read_text())
    for name in ACCELERATED:
        subprocess.run(["modprobe", name], check=True)
    for scenario in asked.scenarios:
        print(f"begin {scenario.label}", flush=True)
        print(f"outcome {json.dumps(asdict(run(scenario)))}", flush=True)
    hand_out_symbols(asked.symbols)
    return 0


def choose_module(driver: str) -> None:
    """Tells the code that loads the module which one is meant; another one leaves."""
    if not driver:
        return
    if Path("/sys/module/ovpn").exists():
        subprocess.run(["rmmod", "ovpn"], check=True)
    os.environ["OVPN_MODULE_KIND"] = "rust" if driver == "ours" else "intree"
    os.environ["OVPN_MODULE"] = os.environ["OVPN_OURS" if driver == "ours" else "OVPN_INTREE"]


def run(scenario: Scenario) -> Outcome:
    outcome = Outcome(scenario.label)
    ground = Ground(scenario)
    try:
        choose_module(scenario.driver)
        if scenario.kind == "scale":
            scale.run(ground, outcome)
            return outcome
        way = system.make(ground)
        try:
            times = []
            for _ in range(scenario.repeat):
                flow.run(scenario, way.target, outcome)
                times.append(outcome.seconds)
            outcome.notes["seconds"] = times
        finally:
            way.close()
    except system.Unsupported as what:
        outcome.unsupported = str(what)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        outcome.error = f"{type(error).__name__}: {error}"
    finally:
        ground.close()
    return outcome


def hand_out_symbols(which: str) -> None:
    """The addresses of functions, which only the running kernel knows."""
    if which == "none":
        return
    text = Path("/proc/kallsyms").read_bytes()
    if which == "modules":
        text = b"\n".join(line for line in text.splitlines() if b"\t[" in line)
    subprocess.run([BENCH / "put", "kallsyms"], input=text, check=True)


if __name__ == "__main__":
    sys.exit(main())
