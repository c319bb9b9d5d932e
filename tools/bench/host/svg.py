# SPDX-License-Identifier: GPL-2.0
"""Two kinds of plots as SVG: stacked bars, and lines over a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#4269d0", "#97bbf5", "#ff725c", "#3ca951", "#9c6b4e", "#6cc5b0")
INK, GRID, PAPER = "#222", "#ddd", "#fff"
WIDTH = 820
LABELS = 250
ROW = 26
TOP = 56


@dataclass(frozen=True)
class Bar:
    """A name and its pieces, from left to right."""

    name: str
    pieces: tuple[float, ...]


@dataclass(frozen=True)
class Line:
    """A name and its points."""

    name: str
    points: tuple[tuple[float, float], ...]


def bars(title: str, unit: str, pieces: Sequence[str], rows: Sequence[Bar]) -> str:
    """Horizontal bars, one above the other."""
    scale = (WIDTH - LABELS - 70) / max(sum(row.pieces) for row in rows)
    body = [_legend(pieces), *_ticks(max(sum(row.pieces) for row in rows), scale, TOP + ROW * len(rows))]
    for i, row in enumerate(rows):
        y, x = TOP + i * ROW, float(LABELS)
        body.append(_text(LABELS - 8, y + 16, row.name, "end"))
        for value, colour in zip(row.pieces, COLOURS):
            body.append(_box(x, y + 3, value * scale, ROW - 7, colour))
            x += value * scale
        body.append(_text(x + 6, y + 16, f"{sum(row.pieces):.2f}"))
    return _document(title, unit, TOP + ROW * len(rows) + 30, body)


def lines(title: str, unit: str, rows: Sequence[Line]) -> str:
    """Lines from zero; the horizontal axis counts in tens."""
    height, left, right = 300, 70, WIDTH - 30
    points = [point for row in rows for point in row.points]
    highest = 4 * _round_up(max(y for _, y in points) / 4, (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10))
    decades = max(1.0, math.log10(max(x for x, _ in points)))

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * math.log10(x) / decades, TOP + height * (1 - y / highest)

    body = [_legend([row.name for row in rows])]
    for step in range(5):
        value = highest * step / 4
        y = place(1, value)[1]
        body.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        body.append(_text(left - 8, y + 4, f"{value:,.0f}", "end"))
    for x in sorted({x for x, _ in points}):
        body.append(_text(place(x, 0)[0], TOP + height + 18, f"{x:,.0f}", "middle"))
    for row, colour in zip(rows, COLOURS):
        where = [place(x, y) for x, y in row.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in where]
    return _document(title, unit, TOP + height + 40, body)


def _ticks(highest: float, scale: float, bottom: int) -> list[str]:
    step = _round_up(highest / 6)
    found = []
    for i in range(int(highest / step) + 1):
        x = LABELS + i * step * scale
        found.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="{GRID}"/>')
        found.append(_text(x, bottom + 16, f"{i * step:g}", "middle"))
    return found


def _round_up(value: float, factors: Sequence[float] = (1, 2, 5, 10)) -> float:
    """The next number that is one of the factors at a power of ten."""
    power = 10 ** math.floor(math.log10(value)) if value > 0 else 1
    return float(next(factor * power for factor in factors if factor * power >= value))


def _legend(names: Sequence[str]) -> str:
    found, x = [], 14.0
    for name, colour in zip(names, COLOURS):
        found.append(_box(x, 32, 12, 12, colour))
        found.append(_text(x + 17, 43, name))
        x += 40 + 7.2 * len(name)
    return "\n".join(found)


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _document(title: str, unit: str, height: int, body: Sequence[str]) -> str:
    head = [
        "<!-- SPDX-License-Identifier: GPL-2.0 -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        f'<text x="14" y="20" font-weight="bold">{escape(title)}</text>',
        _text(WIDTH - 14, 20, unit, "end"),
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"
