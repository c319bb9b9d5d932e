# SPDX-License-Identifier: GPL-2.0
"""The machine's memory, found by what is in it. Needs a kernel whose /dev/mem gives all of it."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import ktap

DEVICE = "/dev/mem"
PAGE = 4096
MEBIBYTE = 1 << 20
CHUNK = 4 * MEBIBYTE


class Memory:
    """All of the system's RAM, by physical address."""

    def __init__(self) -> None:
        if not os.path.exists(DEVICE):
            ktap.fail(f"this kernel has no {DEVICE} (CONFIG_DEVMEM), run it on the debug kernel")
        self._file = os.open(DEVICE, os.O_RDWR)

    def close(self) -> None:
        """Ends it."""
        os.close(self._file)

    def u32(self, address: int) -> int:
        """The number at an address."""
        return int(struct.unpack("=I", os.pread(self._file, 4, address))[0])

    def set_u32(self, address: int, value: int) -> None:
        """Writes it, in one go."""
        os.pwrite(self._file, struct.pack("=I", value), address)

    def find(self, pattern: bytes) -> Iterator[int]:
        """Where the pattern is, wherever that may be."""
        for start, end in _ranges():
            for at in range(start, end, CHUNK):
                data = os.pread(self._file, min(CHUNK + len(pattern) - 1, end - at), at)
                found = data.find(pattern)
                while found >= 0:
                    yield at + found
                    found = data.find(pattern, found + 1)

    def following(self, pattern: bytes, reach: int, steps: Iterable[int]) -> int:
        """The address of the one number, no farther than `reach` from the pattern, that is what each step
        says, as soon as it has been taken. Memory is full of copies of the pattern and of numbers, so
        that one step would not tell."""
        found: dict[int, int] | None = None
        for wanted in steps:
            found = self._beside(pattern, reach) if found is None else {at: self.u32(at) for at in found}
            found = {at: value for at, value in found.items() if value == wanted}
            ktap.note(f"{len(found)} times {wanted}")
        if found is None or len(found) != 1:
            ktap.fail(f"of the numbers beside the pattern {len(found or ())} followed all steps, must be one")
        return found.popitem()[0]

    def _beside(self, pattern: bytes, reach: int) -> dict[int, int]:
        """All numbers no farther than `reach` from the pattern, by their addresses."""
        found = {}
        for at in self.find(pattern):
            first = (at - reach) & ~3
            data = os.pread(self._file, 2 * reach & ~3, first)
            found.update((first + 4 * index, value) for index, (value,) in enumerate(struct.iter_unpack("=I", data)))
        return found


def _ranges() -> list[tuple[int, int]]:
    """Whole pages, and none of the first megabyte, where the firmware's are in between."""
    lines = Path("/proc/iomem").read_text().splitlines()
    found = (re.match(r"([0-9a-f]+)-([0-9a-f]+) : System RAM", line) for line in lines)
    ranges = [(-(-int(one[1], 16) // PAGE) * PAGE, (int(one[2], 16) + 1) // PAGE * PAGE) for one in found if one]
    return [(start, end) for start, end in ranges if start >= MEBIBYTE]
