# SPDX-License-Identifier: GPL-2.0
"""Secrets of which this process has no copy, and the machine's memory, searched for them.

A secret is kept under a mask. It stands in the clear in one place only, the request that
it is sent with, and for as long as it is sent.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator

KCORE = "/proc/kcore"
PAGE_FLAGS = "/proc/kpageflags"
MASK = 0x5A
PT_LOAD = 1
NO_ADDRESS = (1 << 64) - 1
CHUNK = 4 << 20
LONGEST = 64
_ELF = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
# Bits of a page's flags (include/uapi/linux/kernel-page-flags.h).
_KINDS = {7: "slab", 10: "free", 12: "user", 26: "page table"}
_DICE = random.SystemRandom()

# All secrets begin alike, so that one search finds them all.
START = _DICE.randbytes(4)


class Secret:
    """Random bytes to send and to look for. `stand_in` has their place in a request."""

    def __init__(self, what: str, size: int) -> None:
        self.what = what
        self.size = size
        self.stand_in = _DICE.randbytes(size)
        self._masked = [octet ^ MASK for octet in START]
        self._masked += [_DICE.randrange(256) for _ in range(size - len(START))]

    def write_to(self, request: bytearray) -> None:
        """Takes the place of the stand-in, byte by byte: a slice would be a copy."""
        at = request.find(self.stand_in)
        while at >= 0:
            for index, octet in enumerate(self._masked, at):
                request[index] = octet ^ MASK
            at = request.find(self.stand_in, at)

    def is_at(self, buffer: bytearray, at: int) -> bool:
        """Whether the bytes there are these."""
        if at + self.size > len(buffer):
            return False
        return all(buffer[index] ^ MASK == octet for index, octet in enumerate(self._masked, at))


def find(secrets: list[Secret]) -> dict[str, list[str]]:
    """Where in the machine's memory each of them is: physical address and kind of page."""
    buffer = bytearray(CHUNK + LONGEST)
    found: dict[str, list[str]] = {secret.what: [] for secret in secrets}
    with open(KCORE, "rb", buffering=0) as memory:
        for offset, physical, size in _parts(memory.read(1 << 16)):
            for start in range(0, size, CHUNK):
                memory.seek(offset + start)
                end = min(len(buffer), size - start)
                got = 0
                while got < end and (more := memory.readinto(memoryview(buffer)[got:end])):
                    got += more
                # What is left of the chunk before.
                buffer[got:] = bytes(len(buffer) - got)
                for secret, at in _hits(buffer, min(got, CHUNK), secrets):
                    found[secret.what].append(_place(physical + start + at))
    return found


def _hits(buffer: bytearray, end: int, secrets: list[Secret]) -> Iterator[tuple[Secret, int]]:
    """What begins before `end`. The buffer's own copy goes, since the buffer is memory, too."""
    at = buffer.find(START)
    while 0 <= at < end:
        for secret in secrets:
            if secret.is_at(buffer, at):
                yield secret, at
                for index in range(at, at + secret.size):
                    buffer[index] = 0
        at = buffer.find(START, at + 1)


def _place(address: int) -> str:
    kind = ""
    if os.path.exists(PAGE_FLAGS):
        with open(PAGE_FLAGS, "rb") as file:
            file.seek((address >> 12) * 8)
            (flags,) = struct.unpack("<Q", file.read(8))
        kind = next((name for bit, name in _KINDS.items() if flags >> bit & 1), "other")
    return f"{address:#x} {kind}".rstrip()


def _parts(head: bytes) -> Iterator[tuple[int, int, int]]:
    """Offset, physical address and size of each part of the file that is memory."""
    elf = _ELF.unpack_from(head)
    first, size, number = elf[5], elf[9], elf[10]
    for index in range(number):
        kind, _, offset, _, physical, length, _, _ = _SEGMENT.unpack_from(head, first + index * size)
        if kind == PT_LOAD and physical != NO_ADDRESS and length > CHUNK:
            yield offset, physical, length
