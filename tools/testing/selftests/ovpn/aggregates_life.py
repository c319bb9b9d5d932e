#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A socket that a tunnel has taken and left is a plain one, and keeps the module until its end."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import inner
import ktap
from aggregate import arriving, gather, send_cut
from endpoint import Endpoint, close_all, peer_attrs, udp_socket
from flood import Flood
from flow import MIB, SO_RCVBUFFORCE
from ground import LEFT4, RIGHT4, RIGHT6, Ground
from namespace import load_module, run
from wiretap import DATA_V2

UDP_ENCAP, UDP_GRO = 100, 104
UDP_ENCAP_ESPINUDP, UDP_ENCAP_L2TPINUDP = 2, 3
PEER = 1
SIZE, COUNT = 200, 20
ROUNDS = int(os.environ.get("ROUNDS", "200"))
HEAD = struct.pack(">I", DATA_V2 << 27 | PEER)
CONTENT = inner.content(1, SIZE - 8)

load_module()
GROUND = Ground()
gather(GROUND)


def lookalikes(number: int) -> list[bytes]:
    """Datagrams that look like records, numbered."""
    return [HEAD + struct.pack(">I", number + at) + CONTENT for at in range(COUNT)]


class Fire:
    """Datagrams that look like records, to the right end's socket, until it is ended."""

    def __init__(self, to: tuple[str, int]) -> None:
        with GROUND.left.inside():
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
def under_fire(over: int = 4) -> Iterator[tuple[Endpoint, Flood]]:
    """A right end whose socket is bombarded."""
    end = Endpoint(GROUND.right, "tun-right", "p2p", RIGHT4 if over == 4 else RIGHT6)
    end.up()
    end.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, MIB)
    fire = Fire(end.socket.getsockname()[:2])
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


def plain(end: Endpoint, flood: Flood) -> None:
    """All of the socket's datagrams are single ones, and it has some."""
    flood.some()
    if not drained(end):
        ktap.fail("the socket gets nothing although no tunnel has it")


@ktap.case("a socket that has left gets single datagrams, IPv4 and IPv6")
def left() -> None:
    """While it is taken it gets none, and they arrive together."""
    for over in (4, 6):
        with under_fire(over) as (end, flood):
            plain(end, flood)
            for _ in range(10):
                attach(end)
                drained(end)
                with arriving(GROUND.right, over=over) as seen:
                    flood.some()
                seen.must_be_together()
                ktap.equal("datagrams that the socket got", drained(end), 0)
                leave(end)
                plain(end, flood)


@ktap.case("a socket is taken and left 300 times under fire")
def again_and_again() -> None:
    """Whatever is on its way in that moment, no datagram is longer than those that were sent."""
    with under_fire() as (end, flood):
        before = end.counter("rx_dropped")
        got = 0
        with arriving(GROUND.right) as seen:
            for number in range(300):
                attach(end)
                if number % 10 == 0:
                    flood.some()
                leave(end)
                if number % 10 == 5:
                    flood.some()
                    got += drained(end, 0.01)
        ktap.note(f"{seen}, {got} for the socket, {end.counter('rx_dropped') - before} for the link")
        if not got or end.counter("rx_dropped") == before:
            ktap.fail("the socket was not both taken and left under fire")
        plain(end, flood)


@ktap.case("UDP_GRO of the socket, set before and after it is taken")
def udp_gro() -> None:
    """The tunnel works, and afterwards user space is told of each datagram's size."""
    for when in ("before", "while", "after"):
        with under_fire() as (end, flood):
            if when == "before":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            attach(end)
            if when == "while":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            drained_any(end)
            with arriving(GROUND.right) as seen:
                flood.some()
            seen.must_be_together()
            ktap.equal("datagrams that the socket got", drained_any(end), 0)
            leave(end)
            if when == "after":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            flood.some()
            if not drained_any(end):
                ktap.fail("the socket gets nothing although no tunnel has it")
            end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 0)
            drained_any(end)
            plain(end, flood)


def drained_any(end: Endpoint) -> int:
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


@ktap.case("a socket that has left another link works for the next one")
def next_link() -> None:
    """And is refused by a second one while it is taken."""
    with under_fire() as (end, flood):
        other = Endpoint(GROUND.right, "tun-other", "p2p", RIGHT4)
        other.up()
        attrs = peer_attrs(PEER, (LEFT4, 9), end.socket)
        for _ in range(5):
            attach(end)
            ktap.refused(errno.ENOTSOCK, lambda: other.family.peer(ov.Cmd.PEER_NEW, other.index, *attrs))
            leave(end)
            other.family.peer(ov.Cmd.PEER_NEW, other.index, *attrs)
            before = other.counter("rx_dropped")
            with arriving(GROUND.right) as seen:
                flood.some()
            seen.must_be_together()
            if other.counter("rx_dropped") - before < COUNT:
                ktap.fail("the second link did not get the socket's datagrams")
            other.family.peer_del(other.index, PEER)
        other.close()
        plain(end, flood)


@ktap.case("user space makes it a socket of another kind while it is taken, and afterwards")
def other_kind() -> None:
    """What comes of the datagrams then is its own affair, but it ends with the socket."""
    for kind in (0, UDP_ENCAP_ESPINUDP, UDP_ENCAP_L2TPINUDP):
        for taken in (True, False):
            with under_fire() as (end, flood):
                attach(end)
                flood.some()
                if not taken:
                    leave(end)
                try:
                    end.socket.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, kind)
                except OSError as error:
                    ktap.note(f"kind {kind}: {error}")
                flood.some()
                if not taken and kind:
                    ktap.refused(errno.ENOTSOCK, lambda: attach(end))
                if taken:
                    leave(end)
                    drained_any(end)
                    plain(end, flood)
    with under_fire() as (end, flood):
        attach(end)
        end.socket.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_L2TPINUDP)
        flood.some()
        end.socket.close()
        leave(end)
        flood.some()


def unload(patience: float) -> bool:
    """Whether the module can be unloaded within some seconds."""
    stop = time.monotonic() + patience
    while True:
        try:
            run("rmmod", "ovpn")
            return True
        except RuntimeError as error:
            if "in use" not in str(error):
                raise
        if time.monotonic() >= stop:
            return False
        time.sleep(0.05)


@ktap.case("the module stays while a socket is open that has left, under fire, and goes soon after")
def in_use() -> None:
    """A socket that still works meanwhile."""
    for over in (4, 6):
        load_module()
        end = Endpoint(GROUND.right, "tun-right", "p2p", RIGHT4 if over == 4 else RIGHT6)
        kept = end.socket.dup()
        fire = Fire(end.socket.getsockname()[:2])
        attach(end)
        fire.flood.some()
        end.close()
        if unload(1):
            ktap.fail("unloaded although a socket has its hook")
        end.socket = kept
        plain(end, fire.flood)
        kept.close()
        if not unload(10):
            ktap.fail("cannot be unloaded although no socket is left")
        fire.flood.some()
        fire.close()
    load_module()


@ktap.case(f"{ROUNDS} sockets come, leave and go, the module is unloaded after each ten of them")
def rounds() -> None:
    """Closed before they leave, or after, or with their link; some under fire."""
    for number in range(0, ROUNDS, 10):
        load_module()
        end = Endpoint(GROUND.right, "tun-right", "p2p", RIGHT4)
        fire = Fire(end.socket.getsockname()[:2])
        end.up()
        for at in range(10):
            made = end.socket if at == 9 else udp_in_right()
            end.family.peer(ov.Cmd.PEER_NEW, end.index, *peer_attrs(PEER, (LEFT4, 9), made))
            if at == 9:
                fire.flood.some()
            elif at % 2:
                made.close()
            else:
                leave(end)
                made.close()
        end.close()
        if not unload(10):
            ktap.fail(f"cannot be unloaded after {number + 10} sockets")
        fire.close()
    load_module()


def udp_in_right() -> socket.socket:
    """Another socket of the right end."""
    with GROUND.right.inside():
        return udp_socket(RIGHT4)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
