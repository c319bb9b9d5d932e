# SPDX-License-Identifier: GPL-2.0
"""The figures of a measurement: instructions per byte (or per packet) by side and part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import booking
from booking import Part, Side
from counts import Measurement
from symbols import Function, Symbols


@dataclass(frozen=True)
class Figures:
    """All of them per unit of payload."""

    total: float
    tx: float
    rx: float
    core: float
    driver: float
    copied: float
    locked: float

    @property
    def rest(self) -> float:
        """What is not the cipher's inner loop."""
        return self.total - self.core


def profile(measured: Measurement, symbols: Symbols, wanted: set[Side]) -> Counter[Function]:
    """Instructions by function."""
    found: Counter[Function] = Counter()
    for context, blocks in measured.contexts.items():
        if booking.side(context, symbols) in wanted:
            for block in blocks:
                found[symbols.at(block.address)] += block.insns
    return found


def figures(measured: Measurement, symbols: Symbols, units: int, reverse: bool = False) -> Figures:
    """The sums, divided by how many bytes or packets there were."""
    sides: Counter[Side] = Counter()
    parts: Counter[Part] = Counter()
    copied = locked = 0
    for context, blocks in measured.contexts.items():
        side = booking.side(context, symbols, reverse)
        for block in blocks:
            sides[side] += block.insns
            parts[booking.part(symbols.at(block.address))] += block.insns
            copied += block.copied
            locked += block.locked
    return Figures(
        total=sides.total() / units,
        tx=sides[Side.TX] / units,
        rx=sides[Side.RX] / units,
        core=parts[Part.CORE] / units,
        driver=parts[Part.DRIVER] / units,
        copied=copied / units,
        locked=locked / units,
    )
