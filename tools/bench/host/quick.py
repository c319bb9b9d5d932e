# SPDX-License-Identifier: GPL-2.0
"""make bench-quick: our module and the in-tree one, the main figures."""

from __future__ import annotations

import boot
import full
import memory
import results
import suite
import table
from results import Result

SEED = 1

# Title, scenario, which figure.
ROWS = (
    ("AES-128-GCM total", "aes", "total"),
    ("  TX, NIC with UDP segmentation", "aes-seg", "tx"),
    ("  TX, without", "aes", "tx"),
    ("  RX", "aes", "rx"),
    ("ChaCha20-Poly1305 total", "chacha", "total"),
)


def run(driver: str, fresh: bool) -> int:
    """Measures and prints; fails when something could not be measured."""
    ours = measure(driver)
    theirs = (None if fresh else memory.recall(suite.QUICK, SEED)) or measure("c")
    memory.keep(theirs, suite.QUICK, SEED)
    print("Instructions per payload byte, one TCP flow, client to server:\n")
    print(render(ours, theirs))
    return full.complain(ours + theirs)


def measure(driver: str) -> list[Result]:
    found = boot.run(driver, suite.module_of(driver), suite.QUICK, SEED)
    return results.of_boot(driver, found, suite.QUICK)


def render(ours: list[Result], theirs: list[Result]) -> str:
    rows = []
    for title, label, figure in ROWS:
        mine, other = _figure(ours, label, figure), _figure(theirs, label, figure)
        limit = suite.LIMITS[figure] if label.startswith("aes") else None
        times = table.number(mine / limit) if mine and limit else "-"
        cells = (table.number(mine), table.number(other), table.ratio(mine, other), table.number(limit), times)
        rows.append((title, *cells))
    return table.plain(("", "ours", "C", "ratio", "limit", "times limit"), rows)


def _figure(found: list[Result], label: str, figure: str) -> float | None:
    for result in found:
        if result.label == label and result.figures:
            return float(getattr(result.figures, figure))
    return None
