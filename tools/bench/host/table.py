# SPDX-License-Identifier: GPL-2.0
"""Tables for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def plain(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns, the first one to the left."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [_line(head, widths), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a document."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(ours: float | None, other: float | None) -> str:
    """How much of the other one ours is."""
    return "-" if ours is None or not other else f"{ours / other:.3f}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
    return "  ".join([row[0].ljust(widths[0]), *others]).rstrip()
