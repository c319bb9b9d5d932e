# SPDX-License-Identifier: GPL-2.0
"""A man in the middle of a TCP tunnel: reads one end's stream, writes the other's.

The two ends are links in two namespaces. Each is connected to a tap of its own, and
nothing gets through unless it is delivered, in pieces as one likes.
"""

from __future__ import annotations

import contextlib
import errno
import random
import socket
import struct
from collections.abc import Iterable, Iterator

import family as ov
import ktap
import nl
from endpoint import Endpoint, udp_socket, vpn
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import Namespace

LEFT_PEER, RIGHT_PEER = 2, 1
INNER_LEFT, INNER_RIGHT = "10.9.0.1", "10.9.0.2"
INNER_PORT = 7777
PREFIX = 2
# A packet of the control channel begins with an opcode that is none of data.
CONTROL = 0x20
# The socket module has no name for it.
SO_RCVBUFFORCE = 33
ADDRESSES = {4: (LEFT4, RIGHT4), 6: (LEFT6, RIGHT6)}


def frame(packet: bytes) -> bytes:
    """A packet as it stands in the stream."""
    return struct.pack(">H", len(packet)) + packet


def control(size: int, seed: int = 0) -> bytes:
    """A packet that is for the daemon."""
    return bytes([CONTROL]) + bytes((seed + i) & 0xFF for i in range(size - 1))


def pieces(stream: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """The stream, cut as told; the last size goes on for ever."""
    at, size = 0, len(stream)
    wanted = iter(sizes)
    while at < len(stream):
        size = next(wanted, size)
        yield stream[at : at + size]
        at += size


def connection(
    here: Namespace, there: Namespace, address: str
) -> tuple[socket.socket, socket.socket]:
    """Two connected sockets: one in a namespace, and its tap in the other, at an address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with there.inside():
        listener = socket.socket(family, socket.SOCK_STREAM)
    with here.inside():
        end = socket.socket(family, socket.SOCK_STREAM)
    with listener:
        listener.bind((address, 0))
        listener.listen()
        end.settimeout(5)
        end.connect(listener.getsockname())
        tap, _ = listener.accept()
    tap.settimeout(5)
    for made in (end, tap):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end, tap


class Tap:
    """The far side of an end's connection."""

    def __init__(self, made: socket.socket) -> None:
        self.socket = made
        self._seen = b""

    def write(self, stream: bytes, sizes: Iterable[int] = ()) -> None:
        """Writes to the end, in pieces of those sizes."""
        for piece in pieces(stream, sizes):
            self.socket.sendall(piece)

    def packet(self) -> bytes:
        """The next packet from the end's stream, which must be well-formed."""
        size = struct.unpack(">H", self._take(PREFIX))[0]
        return self._take(size)

    def nothing(self) -> None:
        """Nothing may come for a moment."""
        self.socket.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            ktap.fail(f"{self.socket.recv(100)!r} came")
        self.socket.settimeout(5)

    def drain(self) -> None:
        """Throws away what comes, until nothing does for a moment."""
        self.socket.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            while self.socket.recv(1 << 16):
                pass
        self.socket.settimeout(5)
        self._seen = b""

    def reset(self) -> None:
        """Ends the connection at once, by a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._seen) < size:
            try:
                got = self.socket.recv(1 << 16)
            except TimeoutError:
                ktap.fail(f"{size} bytes wanted, {len(self._seen)} came")
            if not got:
                ktap.fail(f"the stream ended, {size} bytes wanted, {len(self._seen)} came")
            self._seen += got
        taken, self._seen = self._seen[:size], self._seen[size:]
        return taken


class Stream:
    """Two ends, a tap each, and an inner UDP flow from left to right."""

    def __init__(
        self,
        ground: Ground,
        over: int = 4,
        mtu: int = 1408,
        cipher: str = "AES-128-GCM",
        mode: str = "p2p",
        send_buffer: int = 0,
    ) -> None:
        left4, right4 = ADDRESSES[over]
        made, tap = connection(ground.left, ground.right, right4)
        if send_buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
            tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, send_buffer)
        self.left = Endpoint(ground.left, "tun-left", "p2p", made)
        self.left_tap = Tap(tap)
        made, tap = connection(ground.right, ground.left, left4)
        self.right = Endpoint(ground.right, "tun-right", mode, made)
        self.right_tap = Tap(tap)
        self.left.peer_new(LEFT_PEER, None, nl.u32(ov.Peer.TX_ID, RIGHT_PEER))
        extra = [vpn(INNER_LEFT)] if mode == "mp" else []
        self.right.peer_new(RIGHT_PEER, None, nl.u32(ov.Peer.TX_ID, LEFT_PEER), *extra)
        self.left.key_new(LEFT_PEER, cipher, (1, 2))
        self.right.key_new(RIGHT_PEER, cipher, (2, 1))
        for end, inner in ((self.left, INNER_LEFT), (self.right, INNER_RIGHT)):
            end.space.ip("link", "set", end.name, "mtu", str(mtu))
            end.up(f"{inner}/24")
        with ground.right.inside():
            self.target = udp_socket(INNER_RIGHT, INNER_PORT)
            self.target.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        with ground.left.inside():
            self.source = udp_socket(INNER_LEFT)

    def close(self) -> None:
        """Everything that was made."""
        for made in (self.source, self.target, self.left_tap.socket, self.right_tap.socket):
            made.close()
        for end in (self.left, self.right):
            end.close()

    def send(self, payload: bytes) -> None:
        """Sends an inner datagram from left to right."""
        self.source.sendto(payload, (INNER_RIGHT, INNER_PORT))

    def record(self, payload: bytes) -> bytes:
        """The record that the left end makes of an inner datagram."""
        self.send(payload)
        return self.left_tap.packet()

    def arrives(self, payload: bytes) -> None:
        """The inner datagram must come out at the right end."""
        try:
            got = self.target.recv(65535)
        except TimeoutError:
            ktap.fail(f"{payload[:40]!r} did not arrive")
        if got != payload:
            ktap.fail(f"{got[:40]!r} arrived, wanted {payload[:40]!r}")

    def daemon_reads(self, packet: bytes) -> None:
        """The right end's daemon must get this packet next."""
        try:
            got = self.right.socket.recv(1 << 17)
        except TimeoutError:
            ktap.fail(f"no packet of {len(packet)} bytes reached the daemon")
        if got != frame(packet):
            ktap.fail(f"the daemon got {got[:40]!r}, wanted {frame(packet)[:40]!r}")

    def still_works(self) -> None:
        """A fresh record must pass."""
        self.right_tap.write(frame(self.record(b"still here")))
        self.arrives(b"still here")


@contextlib.contextmanager
def stream(ground: Ground, **setting: object) -> Iterator[Stream]:
    """A tunnel for the time of a block."""
    made = Stream(ground, **setting)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.close()


def sizes_at_random(seed: int, most: int) -> Iterator[int]:
    """Sizes of pieces, for ever."""
    rng = random.Random(seed)
    while True:
        yield rng.randint(1, most)


def is_gone(end, peer_id: int, reason: ov.Reason, timeout: float = 10) -> None:
    """The end's peer must have been deleted for that reason."""
    told = end.family.notification(timeout)
    ktap.equal("notification", told.command, ov.Cmd.PEER_DEL_NTF)
    ktap.equal("peer", nl.number(told.peer[ov.Peer.ID]), peer_id)
    ktap.equal("reason", ov.Reason(nl.number(told.peer[ov.Peer.DEL_REASON])), reason)
    ktap.refused(errno.ENOENT, lambda: end.get(peer_id))
