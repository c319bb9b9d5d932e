# SPDX-License-Identifier: GPL-2.0
"""Making the kernel's memory allocations fail, one at a time or some at random.

Only those count that the driver under test asks for, itself or through what it
calls: its text must be on the stack. Needs a kernel with FAILSLAB and the filter.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import ktap

FAILSLAB = Path("/sys/kernel/debug/failslab")
FAIL_PAGE = Path("/sys/kernel/debug/fail_page_alloc")
SYMBOLS = Path("/proc/kallsyms")
PAGE = 4096
MOST = 500


def prepare() -> None:
    """Sets the filter to the text of the loaded module."""
    if not FAILSLAB.exists():
        ktap.fail("this kernel cannot inject faults (FAILSLAB), run it on the debug kernel")
    start, end = _text()
    for faults in (FAILSLAB, FAIL_PAGE):
        _set(faults, "probability", 0)
        _set(faults, "times", -1)
        _set(faults, "verbose", 1)
        _set(faults, "stacktrace-depth", 32)
        _set(faults, "require-start", start)
        _set(faults, "require-end", end)
        _set(faults, "ignore-gfp-wait", 0)
    _set(FAIL_PAGE, "min-order", 0)


def _text() -> tuple[int, int]:
    """Where the loaded module's functions are. In the next page others' may be."""
    lines = (line.split() for line in SYMBOLS.read_text().splitlines() if line.endswith("[ovpn]"))
    found = [int(address, 16) for address, kind, *_ in lines if kind in "tT"]
    return min(found), (max(found) // PAGE + 1) * PAGE


def _set(faults: Path, name: str, value: int) -> None:
    (faults / name).write_text(str(value))


@contextlib.contextmanager
def at_random(percent: int) -> Iterator[None]:
    """So many of the allocations fail, in softirqs, too."""
    for faults in (FAILSLAB, FAIL_PAGE):
        _set(faults, "probability", percent)
    try:
        yield
    finally:
        for faults in (FAILSLAB, FAIL_PAGE):
            _set(faults, "probability", 0)


def each(action: Callable[[], object], undo: Callable[[], object]) -> int:
    """Runs `action` with its first allocation failing, then its second, until none is
    left to fail; after each time comes `undo`, whether it succeeded or not. How many
    there were."""
    for number in range(1, MOST):
        hit = _with_fault(number, action)
        undo()
        if not hit:
            return number - 1
    ktap.fail(f"more than {MOST} allocations")


def each_below(faults: Path, step: int, action: Callable[[], object], undo: Callable[[], object]) -> int:
    """As `each`, for allocations in softirqs, which belong to no process: lets the driver have nothing,
    then `step` bytes (pages, where pages are asked for) more each time, and fails the first allocation
    that wants more, until none does. How many times one failed."""
    for number in range(MOST):
        _set(faults, "space", number * step)
        _set(faults, "times", 1)
        _set(faults, "probability", 100)
        try:
            action()
        finally:
            _set(faults, "probability", 0)
            left = int((faults / "times").read_text())
            _set(faults, "times", -1)
            _set(faults, "space", 0)
        undo()
        if left:
            return number
    ktap.fail(f"more than {MOST * step} bytes were asked for")


def _with_fault(number: int, action: Callable[[], object]) -> bool:
    """Whether `action` had as many allocations; it may fail then, and else must not."""
    handle = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    try:
        error: OSError | None = None
        os.pwrite(handle, b"%d" % number, 0)
        try:
            action()
        except OSError as refused:
            error = refused
        left = int(os.pread(handle, 16, 0))
        os.pwrite(handle, b"0", 0)
    finally:
        os.close(handle)
    if left > 0 and error is not None:
        raise error
    return left == 0
