#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every allocation fails once: what was asked for is refused or done, nothing breaks.

Runs on the debug kernel only, which has the means and sees what breaks.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import faults
import flow
import inner
import ktap
import link
import nl
from endpoint import Endpoint, cipher_of, close_all, direction, keepalive, peer_attrs, udp_socket, vpn
from ground import ELSEWHERE4, Ground
from namespace import load_module
from pair import LEFT_PEER, Pair, Setting, pair
from stage import Stage, datagrams, stage
from wiretap import Tunnel

REMOTE = ("192.0.2.2", 1194)
CIPHERS = ("AES-256-GCM", "CHACHA20-POLY1305")

load_module()
faults.prepare()
GROUND = Ground()
LEFT, RIGHT = GROUND.left, GROUND.right


def quietly(action: Callable[[], object]) -> Callable[[], None]:
    """The action, which may be refused: what it undoes need not be there."""

    def run() -> None:
        with contextlib.suppress(OSError):
            action()

    return run


def tried(what: str, count: int) -> None:
    """Says how many allocations there were; none at all means that the filter is wrong."""
    ktap.note(f"{what}: {count} allocations")
    if count == 0:
        ktap.fail(f"{what}: no allocation failed")


@ktap.case("links of both modes")
def links() -> None:
    """Made anew for each allocation."""
    with LEFT.inside():
        for mode, number in link.MODES.items():
            count = faults.each(lambda n=number: link.add("tun0", n), quietly(lambda: link.delete("tun0")))
            tried(f"link of mode {mode}", count)


@ktap.case("peers: made, changed, read, deleted")
def peers() -> None:
    """With and without a socket that is in use already."""
    end = Endpoint(LEFT, "tun0", "mp", "192.0.2.1")
    extra = [vpn("10.9.0.2"), vpn("fd00::2"), keepalive(10, 60)]

    def new() -> None:
        end.family.peer(ov.Cmd.PEER_NEW, end.index, *peer_attrs(1, REMOTE, end.socket, *extra))

    def gone() -> None:
        quietly(lambda: end.family.peer_del(end.index, 1))()
        ktap.equal("peers", end.family.peer_dump(end.index), [])

    tried("peer-new", faults.each(new, gone))
    new()
    moved = peer_attrs(1, ("192.0.2.77", 5), None, vpn("10.9.0.7"), keepalive(5, 50))
    back = peer_attrs(1, REMOTE, None, *extra)
    setting = lambda attrs: end.family.peer(ov.Cmd.PEER_SET, end.index, *attrs)  # noqa: E731
    tried("peer-set", faults.each(lambda: setting(moved), lambda: setting(back)))
    tried("peer-get", faults.each(lambda: end.get(1), lambda: None))
    tried("dump", faults.each(lambda: end.family.peer_dump(end.index), lambda: None))
    # Whoever listens is told, if there is memory for that.
    end.family.listen()
    tried("peer-del", faults.each(lambda: end.family.peer_del(end.index, 1), quietly(new)))
    end.close()


@ktap.case("keys: installed, read, swapped, deleted")
def keys() -> None:
    """Each cipher."""
    end = Endpoint(LEFT, "tun0", "p2p", "192.0.2.1")
    end.peer_new(1, REMOTE)
    for cipher in CIPHERS:
        number, size = cipher_of(cipher)
        material = direction(size, 1), direction(size, 2)

        def new() -> None:
            end.family.key_new(end.index, 1, ov.Slot.PRIMARY, 0, number, *material)

        tried(f"key-new {cipher}", faults.each(new, quietly(lambda: end.family.key_del(end.index, 1, ov.Slot.PRIMARY))))
    new()
    tried("key-get", faults.each(lambda: end.family.key_get(end.index, 1, ov.Slot.PRIMARY), lambda: None))
    faults.each(lambda: end.family.key_swap(end.index, 1), lambda: None)
    end.close()


@ktap.case("packets on their way out: each allocation fails, what is lost is counted")
def sending() -> None:
    """One alone, and bursts: of records together, and one by one, where fewer do, as each has its own."""
    for what, count, setting in (
        ("a packet", 1, Setting()),
        ("a burst", 40, Setting()),
        ("a burst over a device that cuts none", 4, Setting(segmentation=False)),
        ("a burst in fragments", 4, Setting(lower_mtu=1280)),
    ):
        with pair(GROUND, setting) as made:
            sender = flow.Datagrams(made)
            sender.target.setblocking(False)
            tried(f"sending {what}", faults.each(*counted(made, sender, count)))
            sender.close()


def counted(made: Pair, sender: flow.Datagrams, count: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """Sending so many datagrams, and looking after what has become of them."""
    size = 1300
    before = tally(made)

    def send() -> None:
        sender.send(bytes(count * size), size if count > 1 else None)

    def look() -> None:
        nonlocal before
        now = tally(made)
        sent, dropped = now[0] - before[0], now[1] - before[1]
        before = now
        ktap.equal(f"sent or counted as dropped ({sent} and {dropped})", sent + dropped, count)
        # Below the driver there may be no memory, either.
        if drained(sender.target) > sent:
            ktap.fail(f"more than {sent} arrived")

    return send, look


def tally(made: Pair) -> tuple[int, int]:
    """Records that the driver has sent, packets that it has dropped by itself."""
    sent = nl.number(made.left.get(LEFT_PEER)[ov.Peer.LINK_TX_PACKETS])
    return sent, sum(count for cause, count in made.left.drops().items() if cause.startswith("tx_drop_"))


@ktap.case("records on their way in: each allocation fails, what is lost is counted")
def receiving() -> None:
    """One as it is mostly, two that move the peer, and one in fragments."""
    made = GROUND.tunnel("mp")
    with LEFT.inside():
        elsewhere = udp_socket(ELSEWHERE4)
    made.right.family.listen()
    # Nothing is cut inside, so that each datagram is one record.
    for end in (made.left, made.right):
        end.space.ip("link", "set", end.name, "mtu", "9000")
    for what, size, sources, step in (
        ("a record", 100, [made.tap], 64),
        # Here something takes some thousand bytes: it would be tried over and over.
        ("records from elsewhere and back", 100, [elsewhere, made.tap], 256),
        ("a record in fragments", 4000, [made.tap], 256),
    ):
        received(what, step, *delivered(made, size, sources))
    elsewhere.close()
    made.close()


@ktap.case("records that arrive together: each allocation fails, what is lost is counted")
def together() -> None:
    """In one piece, and in as many as there are when there is no memory for that."""
    with stage(GROUND) as end:
        for what, packets in (("datagrams", datagrams(4)), ("a TCP stream", inner.stream(4, 50))):
            received(f"records of {what}", 128, *put_together(end, packets))


def received(what: str, step: int, deliver: Callable[[], None], look: Callable[[], None]) -> None:
    """With memory refused, and pages."""
    for name, where, each in (("memory", faults.FAILSLAB, step), ("pages", faults.FAIL_PAGE, 1)):
        count = faults.each_below(where, each, deliver, look)
        ktap.note(f"receiving {what}: {name} was refused {count} times")


def put_together(end: Stage, packets: list[bytes]) -> tuple[Callable[[], None], Callable[[], None]]:
    """Delivering fresh records of the packets at once, and looking after what has become of them."""
    ready = end.sealed(packets)
    dropped = lost(end.right)

    def deliver() -> None:
        with end.gate.held():
            for record in ready:
                end.socket.sendto(record, end.to)

    def look() -> None:
        nonlocal dropped, ready
        now = lost(end.right)
        arrived = sum(len(piece) for piece in end.delivered.pieces())
        ktap.equal(f"delivered ({arrived}) or counted as dropped", arrived + now - dropped, len(packets))
        dropped, ready = now, end.sealed(packets)

    return deliver, look


def delivered(made: Tunnel, size: int, sources: list[socket.socket]) -> tuple[Callable[[], None], Callable[[], None]]:
    """Delivering a fresh record by each source, and looking after what has become of them."""
    made.target.setblocking(False)
    ready = [made.record(bytes(size)) for _ in sources]
    dropped = lost(made.right)

    def deliver() -> None:
        for record, source in zip(ready, sources):
            made.deliver(record, source)

    def look() -> None:
        nonlocal dropped, ready
        now = lost(made.right)
        ktap.equal("delivered or counted as dropped", drained(made.target) + now - dropped, len(sources))
        dropped, ready = now, [made.record(bytes(size)) for _ in sources]

    return deliver, look


def lost(end: Endpoint) -> int:
    """What the driver has dropped, and what sockets have: a packet in memory from the last reserves,
    which the kernel takes when there is no other, is none for them."""
    names, numbers = re.findall(r"^TcpExt: (.*)", end.space.run("cat", "/proc/net/netstat"), re.M)
    refused = dict(zip(names.split(), numbers.split()))["PFMemallocDrop"]
    return end.counter("rx_dropped") + int(refused)


def drained(target: socket.socket) -> int:
    """How many datagrams have arrived and will not be waited for any longer."""
    count, quiet = 0, time.monotonic() + 0.3
    while time.monotonic() < quiet:
        with contextlib.suppress(BlockingIOError):
            target.recv(65535)
            count, quiet = count + 1, time.monotonic() + 0.3
    return count


@ktap.case("packets in both directions, while a fifth of the allocations fail")
def packets() -> None:
    """And afterwards the tunnel works as if nothing had been."""
    with LEFT.inside():
        tap = udp_socket("192.0.2.1")
    left = Endpoint(LEFT, "tun-left", "p2p", "192.0.2.1")
    right = Endpoint(RIGHT, "tun-right", "mp", "192.0.2.2")
    left.peer_new(2, right.socket.getsockname(), nl.u32(ov.Peer.TX_ID, 1))
    right.peer_new(1, left.socket.getsockname(), nl.u32(ov.Peer.TX_ID, 2), vpn("10.9.0.1"), keepalive(1, 30))
    left.key_new(2, "AES-256-GCM", (1, 2))
    right.key_new(1, "AES-256-GCM", (2, 1))
    left.up("10.9.0.1/24")
    right.up("10.9.0.2/24")
    made = Tunnel(left, right, tap)
    with faults.at_random(20):
        end = time.monotonic() + 20
        number = 0
        while time.monotonic() < end:
            number += 1
            with contextlib.suppress(OSError):
                # Floats there and back, too: each needs a new path.
                bogus = peer_attrs(1, ("192.0.2.1", 9), None)
                right.family.peer(ov.Cmd.PEER_SET, right.index, *bogus)
            for size in (0, 100, 1400, 9000):
                with contextlib.suppress(OSError):
                    made.source.sendto(bytes(size), ("10.9.0.2", 7777))
                    made.target.sendto(bytes(size), ("10.9.0.1", 7777))
        ktap.note(f"{number} rounds")
    made.target.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while made.target.recv(65535) is not None:
            pass
    made.target.settimeout(5)
    made.source.sendto(b"still here", ("10.9.0.2", 7777))
    ktap.equal("payload", made.target.recv(100), b"still here")
    made.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
