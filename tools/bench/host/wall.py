# SPDX-License-Identifier: GPL-2.0
"""A sanity check by the clock: both modules in turn in one guest that counts nothing.

It shows that fewer instructions are not more time. Machine, load and emulation all
have a say in it, so it judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import boot
import suite
from plan import MIB

ROUNDS = 9
# In each round, one after the other: setting up takes longer than a flow.
REPEAT = 6


@dataclass(frozen=True)
class Wall:
    """Seconds for the same payload, by driver, and what the guest ran on."""

    ours: list[float]
    c: list[float]
    accel: str
    mebibytes: int

    def ratio(self) -> float:
        """Ours to C, by the medians."""
        return median(self.ours) / median(self.c)

    def rates(self) -> tuple[float, float]:
        """Both medians in MiB/s."""
        return self.mebibytes / median(self.ours), self.mebibytes / median(self.c)


def measure(driver: str, rounds: int = ROUNDS) -> Wall:
    """Interleaved, so that what the machine does meanwhile meets both."""
    scenarios = [
        replace(suite.AES, label=f"{which}-{i}", driver=which, repeat=REPEAT, warmup=4 * MIB, amount=16 * MIB)
        for i in range(rounds)
        for which in ("ours", "c")
    ]
    found, accel = boot.run_by_the_clock("by the clock", suite.module_of(driver), scenarios)
    times: dict[str, list[float]] = {"ours": [], "c": []}
    for scenario in scenarios:
        outcome = found.outcomes[scenario.label]
        if outcome.error or outcome.unsupported:
            boot.say(f"{scenario.label}: {outcome.error or outcome.unsupported}")
        else:
            times[scenario.driver] += outcome.notes["seconds"]
    return Wall(times["ours"], times["c"], accel, 16)
