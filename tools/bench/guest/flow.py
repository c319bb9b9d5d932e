# SPDX-License-Identifier: GPL-2.0
"""The traffic of a scenario: the program that makes it also makes the marks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from plan import Outcome, Scenario

PROGRAM = Path("/ovpn/bench/flow")
PORT = 5300
# Of the guest's clock, in which every instruction takes a nanosecond.
SECONDS = 120


def run(scenario: Scenario, target: str, outcome: Outcome) -> None:
    """From a to b, or the other way; what the program says goes to the outcome."""
    words = [scenario.kind, *_ends(scenario.reverse), target, PORT, scenario.flows]
    start([*words, scenario.warmup, scenario.amount, scenario.size, scenario.label], {}, outcome)


def start(words: list[object], more: dict[str, str], outcome: Outcome) -> None:
    """The program with its arguments and additions to its environment."""
    try:
        done = subprocess.run(
            [PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=SECONDS, check=False,
            env={**os.environ, **more},
        )
    except subprocess.TimeoutExpired:
        outcome.error = f"the traffic did not end within {SECONDS} s of the guest's time"
        return
    if done.returncode != 0:
        outcome.error = done.stderr.strip() or f"flow ended with {done.returncode}"
    for line in done.stdout.splitlines():
        match line.split():
            case ["seconds", seconds]:
                outcome.seconds = float(seconds)
            case ["tcp", "retransmits", lost, "mss", mss]:
                outcome.retransmits += int(lost)
                outcome.mss = int(mss)


def _ends(reverse: bool) -> tuple[str, str]:
    return ("b", "a") if reverse else ("a", "b")
