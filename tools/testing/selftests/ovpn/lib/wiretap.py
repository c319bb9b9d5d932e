# SPDX-License-Identifier: GPL-2.0
"""A man in the middle: takes records from one end, and does what it is told.

The two ends are links in two namespaces. The sending end's peer is the tap's
socket, and so is the receiving end's: nothing gets through unless delivered.
"""

from __future__ import annotations

import contextlib
import socket
import struct

import ktap
from endpoint import Endpoint, udp_socket

DATA_V1, DATA_V2 = 6, 9
OVERHEAD = 24
IP_UDP = 28
INNER_PORT = 7777


class Tunnel:
    """Two ends, a tap between them, and an inner UDP flow from left to right."""

    def __init__(self, left: Endpoint, right: Endpoint, tap: socket.socket) -> None:
        self.left = left
        self.right = right
        self.tap = tap
        with right.space.inside():
            self.target = udp_socket("10.9.0.2", INNER_PORT)
        with left.space.inside():
            self.source = udp_socket("10.9.0.1")

    def close(self) -> None:
        """Everything that was made."""
        for made in (self.source, self.target, self.tap):
            made.close()
        self.left.close()
        self.right.close()

    def record(self, payload: bytes) -> bytes:
        """The record that the left end makes of an inner datagram."""
        self.source.sendto(payload, ("10.9.0.2", INNER_PORT))
        return self.tap.recv(65535)

    def records(self, count: int) -> list[bytes]:
        """So many records, numbered by their payload."""
        return [self.record(b"number %d" % number) for number in range(1, count + 1)]

    def deliver(self, record: bytes, over: socket.socket | None = None) -> None:
        """Gives a datagram to the right end."""
        (over or self.tap).sendto(record, self.right.socket.getsockname())

    def arrives(self, payload: bytes) -> None:
        """The inner datagram must come out."""
        try:
            got = self.target.recv(65535)
        except TimeoutError:
            ktap.fail(f"{payload[:40]!r} did not arrive")
        ktap.equal("payload", got, payload)

    def nothing_arrives(self) -> None:
        """No inner datagram may come out."""
        with contextlib.suppress(TimeoutError):
            self.target.settimeout(0.1)
            ktap.fail(f"{self.target.recv(65535)[:40]!r} arrived")
        self.target.settimeout(5)

    def dropped(self, what: str, record: bytes) -> None:
        """The right end must drop the datagram and count that, once."""
        before = self.right.counter("rx_dropped")
        self.deliver(record)
        self.nothing_arrives()
        with contextlib.suppress(TimeoutError, BlockingIOError):
            self.right.socket.settimeout(0)
            got = self.right.socket.recv(65535)
            ktap.fail(f"{what}: reached the socket, {len(got)} bytes")
        ktap.equal(f"{what}: drops counted", self.right.counter("rx_dropped") - before, 1)

    def still_works(self) -> None:
        """A fresh record must pass."""
        self.deliver(self.record(b"still here"))
        self.arrives(b"still here")


def header(record: bytes) -> tuple[int, int, int, int]:
    """Opcode, key id, peer id, packet id."""
    word, packet_id = struct.unpack_from(">II", record)
    return word >> 27, word >> 24 & 7, word & 0xFFFFFF, packet_id


def flipped(record: bytes, where: int, bits: int = 1) -> bytes:
    """The record with one byte changed."""
    changed = bytearray(record)
    changed[where] ^= bits
    return bytes(changed)
