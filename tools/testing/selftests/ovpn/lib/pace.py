# SPDX-License-Identifier: GPL-2.0
"""How many times slower than usual this kernel is, as the runner says, and what follows from it."""

from __future__ import annotations

import os

SLOWER = int(os.environ.get("OVPN_SLOWER", "1"))


def fewer(count: int) -> int:
    """So many of what is only a matter of quantity: bytes of a flow, random inputs."""
    return max(1, count // SLOWER)


def patience(seconds: float) -> float:
    """The longest that an event may take."""
    return seconds * SLOWER
