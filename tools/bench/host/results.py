# SPDX-License-Identifier: GPL-2.0
"""Figures with their circumstances, as they are kept in files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import counts
import figures
from boot import Boot
from figures import Figures
from plan import STEP_PACKETS, STEPS, Outcome, Scenario
from symbols import Symbols

# Of a server with many peers, what is counted for each packet, and what for each peer.
PER_PACKET = ("rx", "tx")


@dataclass(frozen=True)
class Result:
    """One scenario in one boot; without figures it says why."""

    label: str
    driver: str
    seed: int
    figures: Figures | None
    outcome: Outcome

    def why_not(self) -> str:
        """Why there are no figures."""
        if self.outcome.unsupported:
            return f"not supported: {self.outcome.unsupported}"
        return self.outcome.error

    def failed(self) -> bool:
        """Whether something went wrong, which "not supported" is not."""
        return not self.figures and not self.outcome.unsupported


def of_boot(driver: str, boot: Boot, scenarios: list[Scenario]) -> list[Result]:
    """The results of a boot, in the order of its scenarios."""
    symbols = Symbols(boot.folder / "kallsyms")
    file = boot.folder / "counts"
    measured = counts.read(file) if file.exists() else {}
    found = []
    for scenario in scenarios:
        for label, units, reverse in _measurements(scenario):
            outcome, counted = boot.outcomes[scenario.label], None
            if label in measured and not outcome.error:
                counted = figures.figures(measured[label], symbols, units, reverse)
            elif not outcome.error and not outcome.unsupported:
                outcome = replace(outcome, error="the plugin counted nothing")
            found.append(Result(label, driver, boot.seed, counted, outcome))
    return found


def _measurements(scenario: Scenario) -> Iterator[tuple[str, int, bool]]:
    """Label, number of units, and whether b sends."""
    if scenario.kind != "scale":
        yield scenario.label, scenario.amount, scenario.reverse
        return
    for step in STEPS:
        units = STEP_PACKETS if step in PER_PACKET else scenario.peers
        yield f"{scenario.label}.{step}", units, step == "tx"


def to_list(results: list[Result]) -> list[dict[str, Any]]:
    """For a JSON file."""
    return [asdict(result) for result in results]


def from_list(found: list[dict[str, Any]]) -> list[Result]:
    """What to_list made."""
    return [
        Result(
            label=one["label"],
            driver=one["driver"],
            seed=one["seed"],
            figures=Figures(**one["figures"]) if one["figures"] else None,
            outcome=Outcome(**one["outcome"]),
        )
        for one in found
    ]


def save(results: list[Result], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(to_list(results), indent=1) + "\n")


def load(file: Path) -> list[Result]:
    return from_list(json.loads(file.read_text()))
