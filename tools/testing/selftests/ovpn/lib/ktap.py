# SPDX-License-Identifier: GPL-2.0
"""KTAP output for tests written in Python."""

from __future__ import annotations

import os
import subprocess
import traceback
from collections.abc import Callable
from typing import NoReturn

import nl

_CASES: list[tuple[str, Callable[[], None]]] = []


def case(description: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Marks a function as a test case; cases run in the order of the file."""

    def add(function: Callable[[], None]) -> Callable[[], None]:
        _CASES.append((description, function))
        return function

    return add


def note(what: str) -> None:
    """A diagnostic."""
    for line in what.splitlines():
        print(f"# {line}", flush=True)


def fail(what: str) -> NoReturn:
    """Ends the case."""
    raise AssertionError(what)


class Skipped(Exception):
    """A case that this kernel cannot run."""


def skip(why: str) -> NoReturn:
    """Ends the case because the kernel lacks what it needs; the report says so."""
    raise Skipped(why)


def equal(what: str, got: object, wanted: object) -> None:
    """The two must be equal."""
    if got != wanted:
        fail(f"{what}: got {got!r}, wanted {wanted!r}")


def refused(number: int, action: Callable[[], object]) -> nl.NetlinkError:
    """The action must be refused with this error number."""
    try:
        action()
    except nl.NetlinkError as error:
        if error.errno != number:
            fail(f"refused with {error}, wanted {os.strerror(number)}")
        return error
    fail(f"was done, wanted to be refused with {os.strerror(number)}")


def refused_plainly(number: int, action: Callable[[], object]) -> None:
    """The action, a system call, must fail with this error number."""
    try:
        action()
    except OSError as error:
        equal("error number", error.errno, number)
        return
    fail(f"was done, wanted {os.strerror(number)}")


def run(tidy: Callable[[], None] = lambda: None) -> int:
    """Runs all cases, tidies up after one that failed; the exit code of the test comes back."""
    print(f"TAP version 13\n1..{len(_CASES)}", flush=True)
    failed = skipped = 0
    for number, (description, function) in enumerate(_CASES, 1):
        try:
            function()
            verdict = "ok"
        except Skipped as why:
            verdict, description = "ok", f"{description} # SKIP {why}"
            skipped += 1
        except Exception:  # pylint: disable=broad-except
            note(traceback.format_exc())
            note(_kernel_log())
            verdict = "not ok"
            failed += 1
            tidy()
        print(f"{verdict} {number} {description}", flush=True)
    passed = len(_CASES) - failed - skipped
    print(f"# Totals: pass:{passed} fail:{failed} xfail:0 xpass:0 skip:{skipped} error:0")
    return 1 if failed or not _CASES else 0


def _kernel_log() -> str:
    lines = subprocess.run(
        ["dmesg"], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    return "--- the end of the kernel's log\n" + "\n".join(lines[-20:])
