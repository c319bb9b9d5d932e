# SPDX-License-Identifier: GPL-2.0
"""Records made from nothing, of any content: ChaCha20-Poly1305 as in RFC 8439.

So slow that it is for hundreds of short records, not for thousands.
"""

from __future__ import annotations

import struct

from endpoint import direction
from wiretap import DATA_V2

CIPHER = "CHACHA20-POLY1305"
UNDEFINED_PEER = 0xFFFFFF

_WORD = 0xFFFFFFFF
_PRIME = (1 << 130) - 5
_CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
_QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _WORD


def _block(key: bytes, counter: int, nonce: bytes) -> bytes:
    start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce)
    now = list(start)
    for _ in range(10):
        for a, b, c, d in _QUARTERS:
            for first, second, third, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                now[first] = now[first] + now[second] & _WORD
                now[third] = _turned(now[third] ^ now[first], bits)
    return struct.pack("<16I", *(one + two & _WORD for one, two in zip(now, start)))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def _tag(key: bytes, aad: bytes, text: bytes) -> bytes:
    factor = int.from_bytes(key[:16], "little") & _CLAMP
    data = _padded(aad) + _padded(text) + struct.pack("<QQ", len(aad), len(text))
    total = 0
    for at in range(0, len(data), 16):
        part = int.from_bytes(data[at : at + 16] + b"\1", "little")
        total = (total + part) * factor % _PRIME
    total += int.from_bytes(key[16:], "little")
    return (total & (1 << 128) - 1).to_bytes(16, "little")


class Sealer:
    """A sender's key: makes records with packet ids that count from 1."""

    def __init__(self, peer_id: int, seed: int, key_id: int = 0) -> None:
        self._key = direction(32, seed)
        self.word = DATA_V2 << 27 | key_id << 24 | peer_id
        self.last = 0

    def seal(self, payload: bytes, packet_id: int | None = None) -> bytes:
        """The record of a payload, with the next packet id or the one given."""
        if packet_id is None:
            self.last += 1
            packet_id = self.last
        aad = struct.pack(">II", self.word, packet_id)
        nonce = aad[4:] + self._key.nonce_tail
        blocks = range(1, len(payload) // 64 + 2)
        stream = b"".join(_block(self._key.key, number, nonce) for number in blocks)
        text = bytes(one ^ two for one, two in zip(payload, stream))
        return aad + _tag(_block(self._key.key, 0, nonce)[:32], aad, text) + text
