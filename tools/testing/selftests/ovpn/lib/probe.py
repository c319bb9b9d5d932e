#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Asks the loaded driver many things and writes down what it does.

Run as a program: probe.py FILE [GROUP..], with the module loaded. parity.py runs it with
one module and with the other and compares the two files. A probe is named by a path
("request/peer-new/no-port"); its answer is anything that JSON can hold.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

GROUPS = ("probe_peers", "probe_keys", "probe_notices", "probe_traffic", "probe_crafted", "probe_tcp", "probe_links")

Answer = tuple[str, Any]
_PROBES: list[tuple[str, Callable[[], Iterator[Answer]]]] = []


def probes(name: str) -> Callable[[Callable[[], Iterator[Answer]]], Callable[[], Iterator[Answer]]]:
    """Marks a function that yields answers, each named below `name`."""

    def add(function: Callable[[], Iterator[Answer]]) -> Callable[[], Iterator[Answer]]:
        _PROBES.append((name, function))
        return function

    return add


def run() -> dict[str, Any]:
    """All answers by name. A probe that breaks is an answer, too: a difference, unless
    both modules break it, which parity.py does not accept either."""
    answers: dict[str, Any] = {}
    for name, function in _PROBES:
        try:
            for what, answer in function():
                key = f"{name}/{what}"
                if key in answers:
                    raise KeyError(f"two probes are called {key}")
                answers[key] = answer
        except Exception:  # pylint: disable=broad-except
            answers[f"{name}/broken"] = traceback.format_exc()
    return answers


if __name__ == "__main__":
    # Under its own name, so that the groups find the same list.
    import probe

    for group in sys.argv[2:] or GROUPS:
        importlib.import_module(group)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(probe.run(), file, indent=1)
