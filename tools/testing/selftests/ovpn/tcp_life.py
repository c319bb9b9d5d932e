#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP transport: sockets, peers and links that go, and streams that stand still."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import close_all
from ground import LEFT4, RIGHT4, Ground
from namespace import load_module, ours, run
from stream import (
    LEFT_PEER,
    RIGHT_PEER,
    connection,
    control,
    frame,
    is_gone,
    stream,
)
from wiretap import DATA_V2

BACKLOG = "net.core.netdev_max_backlog"

load_module()
GROUND = Ground()


@ktap.case("a closed socket ends the peer, and the other side sees the end of the stream")
def closed() -> None:
    """With records and packets for the daemon on their way."""
    with stream(GROUND) as made:
        made.right.family.listen()
        made.right_tap.write(frame(made.record(b"on its way")) + frame(control(50)) * 10)
        made.right.socket.close()
        is_gone(made.right, RIGHT_PEER, ov.Reason.TRANSPORT_DISCONNECT)
        with contextlib.suppress(ConnectionResetError):
            while made.right_tap.socket.recv(1 << 16):
                pass


@ktap.case("a peer that is deleted leaves a plain socket behind")
def deleted() -> None:
    """Which can be given to a new peer."""
    with stream(GROUND) as made:
        end = made.right
        end.family.peer_del(end.index, RIGHT_PEER)
        made.right_tap.write(b"to the socket")
        ktap.equal("read", end.socket.recv(100), b"to the socket")
        end.socket.sendall(b"from the socket")
        ktap.equal("written", made.right_tap.socket.recv(100), b"from the socket")
        end.peer_new(RIGHT_PEER, None, nl.u32(ov.Peer.TX_ID, LEFT_PEER))
        end.key_new(RIGHT_PEER, "AES-128-GCM", (2, 1))
        made.still_works()
        made.right_tap.write(frame(control(60)))
        made.daemon_reads(control(60))


@ktap.case("who waits for the socket is let go when the peer is deleted")
def readers() -> None:
    """A read that waits goes on as a read of a plain socket."""
    if not ours():
        ktap.note("the in-tree driver lets such a reader wait, and the link with it")
        return
    with stream(GROUND) as made:
        end, got = made.right, []
        end.socket.settimeout(None)
        reader = threading.Thread(target=lambda: got.append(end.socket.recv(100)))
        reader.start()
        time.sleep(0.3)
        made.right_tap.write(frame(control(40)))
        reader.join(5)
        ktap.equal("read", got, [frame(control(40))])
        reader = threading.Thread(target=lambda: got.append(end.socket.recv(100)))
        reader.start()
        time.sleep(0.3)
        end.family.peer_del(end.index, RIGHT_PEER)
        made.right_tap.write(b"plain")
        reader.join(5)
        ktap.equal("read", got[1:], [b"plain"])


@ktap.case("a reader of a few bytes gets the rest later")
def few_bytes() -> None:
    """As from any stream."""
    if not ours():
        ktap.note("the in-tree driver cuts the packet off")
        return
    with stream(GROUND) as made:
        made.right_tap.write(frame(control(40)) + frame(control(50)))
        got = b""
        while len(got) < len(frame(control(40))):
            part = made.right.socket.recv(7, socket.MSG_PEEK)
            ktap.equal("peeked", made.right.socket.recv(7), part)
            got += part
        ktap.equal("packet", got, frame(control(40)))
        made.daemon_reads(control(50))


@ktap.case("a stream that stands still: what does not fit is dropped and counted, the rest arrives")
def full() -> None:
    """Records are whole afterwards, and the daemon's packets among them."""
    with backlog(20), stream(GROUND, send_buffer=65536) as made:
        made.source.setblocking(False)
        before = made.left.counter("tx_dropped")
        sent = 0
        while made.left.counter("tx_dropped") - before < 50:
            if sent > 20000:
                ktap.fail("20000 records and not one too many")
            with contextlib.suppress(BlockingIOError):
                made.send(b"%d" % sent + bytes(1000))
                sent += 1
        made.left.socket.settimeout(0)
        wrote = writes(made.left.socket, 1000)
        if ours() and wrote == 1000:
            ktap.fail("the daemon could write 1000 packets to a stream that stands still")
        dropped = made.left.counter("tx_dropped") - before
        ktap.note(f"{sent} sent, {dropped} dropped, {wrote} packets of the daemon")
        seen = {"records": 0, "packets": 0}
        try:
            while seen["records"] < sent - dropped or seen["packets"] < wrote * ours():
                seen["records" if made.left_tap.packet()[0] >> 3 == DATA_V2 else "packets"] += 1
        except AssertionError:
            ktap.note(f"came: {seen}")
            raise
        made.source.setblocking(True)
        made.left.socket.settimeout(5)
        made.left_tap.drain()
        made.still_works()


@contextlib.contextmanager
def backlog(packets: int):
    """The limit of queues, for the time of a block."""
    before = run("sysctl", "-n", BACKLOG).strip()
    run("sysctl", "-qw", f"{BACKLOG}={packets}")
    try:
        yield
    finally:
        run("sysctl", "-qw", f"{BACKLOG}={before}")


def writes(over: socket.socket, most: int) -> int:
    """How many packets the socket takes without waiting."""
    for number in range(most):
        try:
            over.send(frame(control(100, number)))
        except BlockingIOError:
            return number
    return most


@ktap.case("a route that leads a connection into its own tunnel does no harm")
def loop() -> None:
    """The segments of the connection become records, which wait for that very connection."""
    if not ours():
        ktap.note("the in-tree driver waits for a lock that it holds, for ever")
        return
    with stream(GROUND) as made:
        made.left.space.ip("route", "add", f"{RIGHT4}/32", "dev", made.left.name)
        for number in range(50):
            made.send(b"number %d" % number)
            made.left.socket.sendall(frame(control(100, number)))
        time.sleep(1)
        made.left.space.ip("route", "delete", f"{RIGHT4}/32", "dev", made.left.name)
        made.left_tap.socket.settimeout(30)
        for number in range(50):
            while (packet := made.left_tap.packet())[0] >> 3 == DATA_V2:
                pass
            ktap.equal("packet of the daemon", packet, control(100, number))
        made.left_tap.drain()
        made.still_works()


@ktap.case("sockets, peers and links end at any moment under traffic")
def any_moment() -> None:
    """Both ways at once; who ends what, and when, is chosen by a seed."""
    for seed in range(24):
        rng = random.Random(seed)
        with stream(GROUND) as made:
            for one in (made.left, made.right, made.left_tap):
                one.socket.settimeout(0)
            made.right_tap.socket.settimeout(1)
            for one in (made.source, made.target):
                one.settimeout(0)
            stop = threading.Event()
            workers = [
                threading.Thread(target=feed, args=(made, stop)),
                threading.Thread(target=drain, args=(made, stop)),
            ]
            for worker in workers:
                worker.start()
            time.sleep(rng.uniform(0.01, 0.2))
            # A peer may be gone already, if a piece of its stream got lost in the middle.
            with contextlib.suppress(nl.NetlinkError):
                end_of(made, rng.choice(("left socket", "right socket", "peer", "taps", "both")))
            time.sleep(rng.uniform(0, 0.05))
            stop.set()
            for worker in workers:
                worker.join(10)


def end_of(made, what: str) -> None:
    """Ends a part of a tunnel."""
    match what:
        case "left socket":
            made.left.socket.close()
        case "right socket":
            made.right.socket.close()
        case "peer":
            made.left.family.peer_del(made.left.index, LEFT_PEER)
            made.right.family.peer_del(made.right.index, RIGHT_PEER)
        case "taps":
            made.left_tap.reset()
            made.right_tap.reset()
        case "both":
            made.right.socket.close()
            made.left.family.peer_del(made.left.index, LEFT_PEER)


def feed(made, stop: threading.Event) -> None:
    """Sends inner datagrams, control packets, and passes both on."""
    while not stop.is_set():
        with contextlib.suppress(OSError, ValueError):
            made.send(bytes(1000))
        with contextlib.suppress(OSError, ValueError):
            made.left.socket.send(frame(control(100)))
        with contextlib.suppress(OSError, ValueError):
            made.right_tap.socket.sendall(made.left_tap.socket.recv(1 << 16))


def drain(made, stop: threading.Event) -> None:
    """Reads what comes out for the daemon and for the network."""
    while not stop.is_set():
        with contextlib.suppress(OSError, ValueError):
            made.right.socket.recv(1 << 16)
        with contextlib.suppress(OSError, ValueError):
            made.target.recv(1 << 16)


@ktap.case("a socket that was ours once keeps the module loaded until it is closed")
def module_stays() -> None:
    """No call can be on its way into a module that is gone."""
    if not ours():
        ktap.note("the in-tree driver can be unloaded, whoever is still on the way")
        return
    end, tap = connection(GROUND.right, GROUND.left, LEFT4)
    with stream(GROUND) as made:
        made.right.family.peer_del(made.right.index, RIGHT_PEER)
        kept, made.right.socket = made.right.socket, end
        made.right.peer_new(RIGHT_PEER, None)
    tap.close()
    try:
        run("rmmod", "ovpn")
        ktap.fail("the module could be unloaded")
    except RuntimeError:
        pass
    kept.close()
    run("rmmod", "ovpn")
    load_module()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
