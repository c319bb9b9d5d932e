# SPDX-License-Identifier: GPL-2.0
"""make bench-profile: where a side's instructions go, by function."""

from __future__ import annotations

from collections import Counter

import boot
import booking
import counts
import figures
import suite
import table
from booking import Part, Side
from paths import lab
from plan import Scenario
from symbols import Function, Symbols


def run(driver: str, side: Side, scenario: Scenario, lines: int) -> int:
    """Measures one scenario and prints the functions that cost most."""
    found = boot.run(driver, suite.module_of(driver), [scenario], seed=1)
    outcome = found.outcomes[scenario.label]
    if outcome.error or outcome.unsupported:
        raise lab.Error(f"{scenario.label}: {outcome.error or 'not supported: ' + outcome.unsupported}")
    symbols = Symbols(found.folder / "kallsyms")
    measured = counts.read(found.folder / "counts")[scenario.label]
    by_function = figures.profile(measured, symbols, {side})
    records = scenario.amount / (outcome.mss or scenario.amount)
    print(f"{driver}, {scenario.label}, {side.value}: instructions per payload byte and per record\n")
    print(_parts(by_function, scenario.amount, records))
    print()
    print(_functions(by_function.most_common(lines), by_function.total(), scenario.amount, records))
    return 0


def _parts(by_function: Counter[Function], amount: int, records: float) -> str:
    parts: Counter[Part] = Counter()
    for function, insns in by_function.items():
        parts[booking.part(function)] += insns
    rows = [_row(part.value, parts[part], by_function.total(), amount, records) for part in Part]
    rows.append(_row("total", by_function.total(), by_function.total(), amount, records))
    return table.plain(("part", "per byte", "per record", "share"), rows)


def _functions(top: list[tuple[Function, int]], total: int, amount: int, records: float) -> str:
    rows = []
    for function, insns in top:
        name = function.shown() if len(function.shown()) <= 90 else function.shown()[:87] + "..."
        rows.append((*_row(name, insns, total, amount, records), booking.part(function).value))
    return table.plain(("function", "per byte", "per record", "share", "part"), rows)


def _row(name: str, insns: int, total: int, amount: int, records: float) -> tuple[str, str, str, str]:
    return name, f"{insns / amount:.4f}", f"{insns / records:.0f}", f"{100 * insns / total:.1f} %"
