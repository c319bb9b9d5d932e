# SPDX-License-Identifier: GPL-2.0
"""The list of wanted differences: the rows of a table in a text for people.

A row begins with the names of probes in backquotes, in which * stands for anything,
and ends with the reason.
"""

from __future__ import annotations

import fnmatch
import re


class Differences:
    """Names that may differ, and which of them did."""

    def __init__(self, path: str) -> None:
        self._patterns: dict[str, bool] = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if not line.startswith("| `"):
                    continue
                if len(cells) != 4 or not all(cells):
                    raise ValueError(f"{path}: a row needs what, both sides and why: {line.strip()}")
                for pattern in re.findall(r"`([^`]+)`", cells[0]):
                    self._patterns[pattern] = False

    def allow(self, name: str) -> bool:
        """Whether the difference is listed; all that list it are used."""
        matching = [pattern for pattern in self._patterns if fnmatch.fnmatchcase(name, pattern)]
        for pattern in matching:
            self._patterns[pattern] = True
        return bool(matching)

    def unused(self) -> list[str]:
        """What is listed and did not differ."""
        return [pattern for pattern, used in self._patterns.items() if not used]
