# SPDX-License-Identifier: GPL-2.0
"""The guard: the module may not become dearer than recorded, unless somebody says so."""

from __future__ import annotations

import json

import boot
import paths
import results
import suite
from paths import lab

RECORD = paths.BENCH / "recorded.json"
# What a change may cost before it has to be recorded, with the reason in the commit.
ALLOWED = 1.03


def check(driver: str) -> int:
    """One short run against the record, as a KTAP test."""
    recorded = json.loads(RECORD.read_text())["total"]
    total = measure(driver)
    print("KTAP version 1\n1..1")
    what = f"bench: {total:.2f} instructions per byte, recorded {recorded:.2f}"
    if total <= recorded * ALLOWED:
        print(f"ok 1 {what}")
        return 0
    print("# if the cost is wanted: tools/bench/run guard --record, and give the reason in the commit message")
    print(f"not ok 1 {what}, that is {100 * (total / recorded - 1):.1f} % more")
    return 1


def record(driver: str) -> int:
    """Writes the present figure down."""
    total = measure(driver)
    RECORD.write_text(json.dumps({"scenario": suite.GUARD[0].label, "total": round(total, 3)}) + "\n")
    where = RECORD.relative_to(paths.PROJECT)
    boot.say(f"recorded {total:.3f} instructions per byte in {where}; commit it with the reason")
    return 0


def measure(driver: str) -> float:
    found = boot.run("guard", suite.module_of(driver), suite.GUARD, seed=1)
    result = results.of_boot(driver, found, suite.GUARD)[0]
    if not result.figures:
        raise lab.Error(f"{result.label}: {result.why_not()}")
    if result.outcome.retransmits:
        boot.say(f"{result.label}: {result.outcome.retransmits} retransmits, they cost too")
    return result.figures.total
