# SPDX-License-Identifier: GPL-2.0
"""Figures with their circumstances, as they are kept in files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import counts
import figures
from boot import Boot
from figures import Figures
from plan import Outcome, Scenario
from symbols import Symbols


@dataclass(frozen=True)
class Result:
    """One scenario in one boot; without figures it says why."""

    label: str
    driver: str
    seed: int
    figures: Figures | None
    outcome: Outcome

    def why_not(self) -> str:
        return self.outcome.unsupported and f"not supported: {self.outcome.unsupported}" or self.outcome.error


def of_boot(driver: str, boot: Boot, scenarios: list[Scenario]) -> list[Result]:
    """The results of a boot, in the order of its scenarios."""
    symbols = Symbols(boot.folder / "kallsyms")
    file = boot.folder / "counts"
    measured = counts.read(file) if file.exists() else {}
    return [_result(driver, boot, scenario, measured.get(scenario.label), symbols) for scenario in scenarios]


def _result(driver: str, boot: Boot, scenario: Scenario, measured: counts.Measurement | None,
            symbols: Symbols) -> Result:
    outcome = boot.outcomes[scenario.label]
    found = None
    if measured and not outcome.error:
        found = figures.figures(measured, symbols, scenario.amount)
    elif not outcome.error and not outcome.unsupported:
        outcome.error = "the plugin counted nothing"
    return Result(scenario.label, driver, boot.seed, found, outcome)


def save(results: list[Result], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")


def load(file: Path) -> list[Result]:
    return [
        Result(
            label=one["label"],
            driver=one["driver"],
            seed=one["seed"],
            figures=Figures(**one["figures"]) if one["figures"] else None,
            outcome=Outcome(**one["outcome"]),
        )
        for one in json.loads(file.read_text())
    ]
