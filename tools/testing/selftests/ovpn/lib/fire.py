# SPDX-License-Identifier: GPL-2.0
"""A tunnel's socket that gets datagrams all the time, which look like records but are none."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import inner
import ktap
from aggregate import send_cut
from endpoint import Endpoint, udp_socket
from flood import Flood
from flow import MIB, SO_RCVBUFFORCE
from ground import LEFT4, RIGHT4, RIGHT6, Ground
from wiretap import DATA_V2

UDP_GRO = 104
PEER = 1
SIZE, COUNT = 200, 20
HEAD = struct.pack(">I", DATA_V2 << 27 | PEER)
CONTENT = inner.content(1, SIZE - 8)


def lookalikes(number: int) -> list[bytes]:
    """Datagrams that look like records, numbered."""
    return [HEAD + struct.pack(">I", number + at) + CONTENT for at in range(COUNT)]


class Fire:
    """Datagrams that look like records, to the right end's socket, until it is ended."""

    def __init__(self, ground: Ground, to: tuple[str, int]) -> None:
        with ground.left.inside():
            self._socket = udp_socket("::" if ":" in to[0] else "0.0.0.0")
        self._to, self._number = to, 0
        self.flood = Flood(self._send)

    def _send(self) -> None:
        send_cut(self._socket, lookalikes(self._number), self._to)
        self._number += COUNT
        # Else nobody else gets to run.
        time.sleep(0.001)

    def close(self) -> None:
        """Ends it."""
        self.flood.close()
        self._socket.close()


@contextlib.contextmanager
def under_fire(ground: Ground, over: int = 4) -> Iterator[tuple[Endpoint, Flood]]:
    """A right end whose socket is bombarded."""
    end = Endpoint(ground.right, "tun-right", "p2p", RIGHT4 if over == 4 else RIGHT6)
    end.up()
    end.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, MIB)
    fire = Fire(ground, end.socket.getsockname()[:2])
    yield end, fire.flood
    fire.close()
    end.close()


def attach(end: Endpoint) -> None:
    """The link takes the socket."""
    end.peer_new(PEER, (LEFT4, 9))


def leave(end: Endpoint) -> None:
    """It gives it back."""
    end.family.peer_del(end.index, PEER)


def drained(end: Endpoint, patience: float = 0.1) -> int:
    """How many datagrams the socket has: each of them one that was sent."""
    count = 0
    end.socket.settimeout(patience)
    stop = time.monotonic() + 1
    with contextlib.suppress(TimeoutError):
        while time.monotonic() < stop:
            got = end.socket.recv(65535)
            if len(got) != SIZE or got[:4] != HEAD or got[8:] != CONTENT:
                ktap.fail(f"a datagram of {len(got)} bytes is none that was sent")
            count += 1
    return count


def drained_many(end: Endpoint) -> int:
    """How many datagrams the socket has; user space asked for many at once."""
    count = 0
    end.socket.settimeout(0.1)
    stop = time.monotonic() + 1
    with contextlib.suppress(TimeoutError):
        while time.monotonic() < stop:
            got, told, _, _ = end.socket.recvmsg(1 << 17, 64)
            size = next((int.from_bytes(data[:4], "little") for level, kind, data in told
                         if (level, kind) == (socket.IPPROTO_UDP, UDP_GRO)), len(got))
            for at in range(0, len(got), size):
                one = got[at : at + size]
                if len(one) != SIZE or one[:4] != HEAD or one[8:] != CONTENT:
                    ktap.fail(f"{len(got)} bytes, said to be cut at {size}, are not what was sent")
                count += 1
    return count


def plain(end: Endpoint, flood: Flood) -> None:
    """All of the socket's datagrams are single ones, and it has some."""
    flood.some()
    if not drained(end):
        ktap.fail("the socket gets nothing although no tunnel has it")
