# SPDX-License-Identifier: GPL-2.0
"""Median and spread over the seeds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from results import Result


@dataclass(frozen=True)
class Value:
    """A median, and by how much the seeds differ (the largest from the smallest)."""

    median: float
    spread: float

    def shown(self, digits: int = 2) -> str:
        return f"{self.median:.{digits}f}"


class Summary:
    """All results, asked for by driver, label and figure."""

    def __init__(self, results: list[Result]) -> None:
        self.results = results

    def value(self, driver: str, label: str, figure: str) -> Value | None:
        """None when no seed has a figure."""
        found = [
            float(getattr(result.figures, figure))
            for result in self.results
            if result.driver == driver and result.label == label and result.figures
        ]
        if not found:
            return None
        middle = median(found)
        return Value(middle, (max(found) - min(found)) / middle if middle else 0)

    def why_not(self, driver: str, label: str) -> str:
        """What the guest said instead of a figure."""
        for result in self.results:
            if result.driver == driver and result.label == label and not result.figures:
                return result.why_not()
        return "not measured"

    def note(self, driver: str, label: str, name: str) -> float | None:
        """A number that the guest found out by itself."""
        for result in self.results:
            if result.driver == driver and result.label == label and name in result.outcome.notes:
                return float(result.outcome.notes[name])
        return None

    def retransmits(self) -> list[Result]:
        """Runs with losses, which are not comparable."""
        return [result for result in self.results if result.outcome.retransmits]
