# SPDX-License-Identifier: GPL-2.0
"""Counting results in KTAP, the format of kselftests (Documentation/dev-tools/ktap.rst)."""

import re
from dataclasses import dataclass, field

_RESULT = re.compile(r"^(?P<indent> *)(?P<bad>not )?ok\b *(?P<number>\d+)?(?: +(?:- )?(?P<name>[^#]*))?(?P<note>#.*)?$")
_PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<count>\d+)")
_SKIP = re.compile(r"# *SKIP\b", re.IGNORECASE)


@dataclass
class Tally:
    """How many tests passed, failed and were skipped, and which failed and why."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def fail(self, what: str, count: int = 1) -> None:
        self.failed += count
        self.failures.append(what)

    def add(self, other: "Tally") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def total(self) -> int:
        return self.passed + self.failed + self.skipped


@dataclass
class _Level:
    """The results at one depth of indentation, until their parent's line comes."""

    indent: int
    tally: Tally = field(default_factory=Tally)
    seen: int = 0
    planned: int | None = None

    def close(self, name: str) -> Tally:
        """A plan that was not kept means tests that never reported."""
        if self.planned is not None and self.seen < self.planned:
            missing = self.planned - self.seen
            self.tally.fail(f"{name}: {missing} of {self.planned} planned tests did not report", missing)
        return self.tally


def count(text: str) -> Tally:
    """Count the leaves: a test with subtests counts as these, and once more only
    when it failed though none of them did."""
    levels: list[_Level] = []
    for line in text.splitlines():
        if plan := _PLAN.match(line):
            _at(levels, len(plan["indent"])).planned = int(plan["count"])
        elif result := _RESULT.match(line.rstrip()):
            _take(levels, result)
    total = Tally()
    for level in levels:
        total.add(level.close("the run"))
    return total


def _at(levels: list[_Level], indent: int) -> _Level:
    for place, level in enumerate(levels):
        if level.indent == indent:
            return level
        if level.indent > indent:
            levels.insert(place, _Level(indent))
            return levels[place]
    levels.append(_Level(indent))
    return levels[-1]


def _take(levels: list[_Level], result: re.Match[str]) -> None:
    indent = len(result["indent"])
    name = (result["name"] or "").strip() or f"test {result['number']}"
    # What is indented deeper and came before belongs to this test.
    inner = Tally()
    while levels and levels[-1].indent > indent:
        inner.add(levels.pop().close(name))
    level = _at(levels, indent)
    level.seen += 1
    note = (result["note"] or "").lstrip("# ")
    if inner.total() > 0:
        inner.failures = [f"{name}: {failure}" for failure in inner.failures]
        if result["bad"] and inner.failed == 0:
            inner.fail(f"{name}: {note or 'failed'}")
        level.tally.add(inner)
    elif result["bad"]:
        level.tally.fail(f"{name}: {note}" if note else name)
    elif _SKIP.search(result["note"] or ""):
        level.tally.skipped += 1
    else:
        level.tally.passed += 1
