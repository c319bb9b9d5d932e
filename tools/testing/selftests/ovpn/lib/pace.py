# SPDX-License-Identifier: GPL-2.0
"""How many times slower than usual this kernel is, as the runner says, and what follows from it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import ktap

SLOWER = int(os.environ.get("OVPN_SLOWER", "1"))


def fewer(count: int) -> int:
    """So many of what is only a matter of quantity: bytes of a flow, random inputs."""
    return max(1, count // SLOWER)


def patience(seconds: float) -> float:
    """The longest that an event may take."""
    return seconds * SLOWER


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 5) -> None:
    """Waits until the condition holds; `what` says what has failed if it does not."""
    end = time.monotonic() + patience(seconds)
    while not condition():
        if time.monotonic() > end:
            ktap.fail(what)
        time.sleep(0.01)
