# SPDX-License-Identifier: GPL-2.0
"""How much memory the kernel's allocators have given out."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

CACHES = Path("/sys/kernel/slab")


def objects() -> dict[str, int]:
    """Objects in use by cache, after all that is only kept for later was given back."""
    for cache in CACHES.iterdir():
        with contextlib.suppress(OSError):
            (cache / "shrink").write_text("1")
    lines = Path("/proc/slabinfo").read_text().splitlines()[2:]
    return {line.split()[0]: int(line.split()[1]) for line in lines}


def percpu_kib() -> int:
    """Memory for each CPU of its own."""
    found = re.search(r"^Percpu: +(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    return int(found[1]) if found else 0
