#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP transport: records and control packets share a stream, however it is cut."""

from __future__ import annotations

import itertools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import errno
import select
import socket

import family as ov
import ktap
import nl
from endpoint import close_all, keepalive
from ground import LEFT4, RIGHT4, Ground
from namespace import load_module, ours
from stream import (
    LEFT_PEER,
    RIGHT_PEER,
    connection,
    control,
    frame,
    sizes_at_random,
    stream,
)
from wiretap import DATA_V2, OVERHEAD, header

UDP_IP = 28
BIG_MTU = 60000

load_module()
GROUND = Ground()


def mixture(made, count: int, sizes) -> tuple[bytes, list[bytes], list[bytes]]:
    """A stream of records with control packets in between; what is inside each."""
    whole, payloads, packets = b"", [], []
    for number, size in zip(range(count), sizes):
        payloads.append(number.to_bytes(4, "big") + bytes(max(size - 4, 0)))
        whole += frame(made.record(payloads[-1]))
        if number % 3 == 0:
            packets.append(control(4 + size % 1000, number))
            whole += frame(packets[-1])
    return whole, payloads, packets


def all_arrive(made, payloads: list[bytes], packets: list[bytes]) -> None:
    """Everything comes out at the right end, in order."""
    for payload in payloads:
        made.arrives(payload)
    for packet in packets:
        made.daemon_reads(packet)


@ktap.case("a record in the stream has its length before it, and nothing else is added")
def wire_format() -> None:
    """Over both families."""
    for over in (4, 6):
        with stream(GROUND, over=over) as made:
            for number in range(1, 6):
                record = made.record(bytes(100 * number))
                ktap.equal("header", header(record), (DATA_V2, 0, RIGHT_PEER, number))
                ktap.equal("length", len(record), OVERHEAD + UDP_IP + 100 * number)
                made.right_tap.write(frame(record))
                made.arrives(bytes(100 * number))


@ktap.case("the stream may be cut anywhere, and come in one piece")
def cuts() -> None:
    """Pieces of one size each, over both families."""
    for over, size in itertools.product((4, 6), (1, 2, 3, 5, 26, 27, 100, 1399, 5000, 1 << 20)):
        with stream(GROUND, over=over) as made:
            lengths = (0, 1, 50) if size < 5 else (0, 1, 50, 1200, 1380, 700)
            whole, payloads, packets = mixture(made, len(lengths), lengths)
            made.right_tap.write(whole, itertools.repeat(size))
            all_arrive(made, payloads, packets)
            made.still_works()


@ktap.case("pieces of any size, records of any size up to the largest link")
def random_cuts() -> None:
    """A seed each."""
    for seed in range(4):
        rng = random.Random(seed)
        with stream(GROUND, mtu=BIG_MTU) as made:
            lengths = [rng.choice((0, 1, 100, 1400, rng.randint(0, BIG_MTU - 100))) for _ in range(40)]
            whole, payloads, packets = mixture(made, len(lengths), lengths)
            made.right_tap.write(whole, sizes_at_random(seed, 9000))
            all_arrive(made, payloads, packets)
            made.still_works()


@ktap.case("what waits in the socket when it is handed over is not lost")
def early() -> None:
    """Control packets that came before the peer was made."""
    end, tap = connection(GROUND.right, GROUND.left, LEFT4)
    packets = [control(100 + number, number) for number in range(10)]
    tap.sendall(b"".join(frame(packet) for packet in packets) + frame(packets[0])[:50])
    with stream(GROUND) as made:
        made.right.family.peer_del(made.right.index, RIGHT_PEER)
        made.right.socket.close()
        made.right.socket = end
        made.right.peer_new(RIGHT_PEER, None)
        for packet in packets:
            made.daemon_reads(packet)
        tap.sendall(frame(packets[0])[50:])
        made.daemon_reads(packets[0])
    tap.close()


@ktap.case("the daemon's packets go out between records, in the order they were written")
def daemon_writes() -> None:
    """What is written after a record comes after it."""
    for over in (4, 6):
        with stream(GROUND, over=over) as made:
            for number in range(100):
                packet = control(4 + number * 13, number)
                made.left.socket.sendall(frame(packet))
                made.send(b"number %d" % number)
                ktap.equal(f"packet {number}", made.left_tap.packet(), packet)
                ktap.equal("a record", header(made.left_tap.packet()), (DATA_V2, 0, RIGHT_PEER, number + 1))


@ktap.case("the daemon can wait for packets, and is woken")
def daemon_waits() -> None:
    """By poll, and by a read that waits."""
    with stream(GROUND) as made:
        poller = select.poll()
        poller.register(made.right.socket, select.POLLIN)
        ktap.equal("events without a packet", poller.poll(0), [])
        made.right_tap.write(frame(made.record(b"data")))
        made.arrives(b"data")
        ktap.equal("events after a record", poller.poll(0), [])
        made.right_tap.write(frame(control(100)))
        ktap.equal("events", poller.poll(5000), [(made.right.socket.fileno(), select.POLLIN)])
        made.daemon_reads(control(100))
        ktap.equal("events after that", poller.poll(0), [])
        poller.register(made.right.socket, select.POLLOUT)
        ktap.equal("writable", poller.poll(0), [(made.right.socket.fileno(), select.POLLOUT)])
        made.right.socket.settimeout(0)
        ktap.refused_plainly(errno.EAGAIN, lambda: made.right.socket.recv(100))


@ktap.case("the other side's end of the stream reaches the daemon")
def end_of_stream() -> None:
    """After the packets before it."""
    with stream(GROUND) as made:
        made.right_tap.write(frame(control(50)))
        made.right_tap.socket.shutdown(socket.SHUT_WR)
        made.daemon_reads(control(50))
        ktap.equal("the end", made.right.socket.recv(100), b"")


@ktap.case("all counters count what passed")
def counters() -> None:
    """Of the peer at either end, and of the links; control packets are not data."""
    with stream(GROUND) as made:
        sizes = [1, 100, 1000, 1380]
        for size in sizes:
            made.left.socket.sendall(frame(control(100)))
            ktap.equal("control", made.left_tap.packet(), control(100))
            made.right_tap.write(frame(made.record(bytes(size))) + frame(control(77)))
            made.arrives(bytes(size))
        inner = sum(sizes) + UDP_IP * len(sizes)
        outer = inner + OVERHEAD * len(sizes)
        sent, got = made.left.get(LEFT_PEER), made.right.get(RIGHT_PEER)
        for what, peer, names, wanted in (
            ("sent inside", sent, (ov.Peer.VPN_TX_BYTES, ov.Peer.VPN_TX_PACKETS), inner),
            ("sent", sent, (ov.Peer.LINK_TX_BYTES, ov.Peer.LINK_TX_PACKETS), outer),
            ("received inside", got, (ov.Peer.VPN_RX_BYTES, ov.Peer.VPN_RX_PACKETS), inner),
            ("received", got, (ov.Peer.LINK_RX_BYTES, ov.Peer.LINK_RX_PACKETS), outer),
        ):
            ktap.equal(f"bytes {what}", nl.number(peer[names[0]]), wanted)
            ktap.equal(f"packets {what}", nl.number(peer[names[1]]), len(sizes))
        ktap.equal("bytes of the link", made.right.counter("rx_bytes"), inner)
        ktap.equal("packets of the link", made.right.counter("rx_packets"), len(sizes))
        ktap.equal("local port", ov.port(got[ov.Peer.LOCAL_PORT]), made.right.socket.getsockname()[1])
        for way in ("rx", "tx"):
            ktap.equal(f"{way} drops", made.right.counter(f"{way}_dropped"), 0)
        if ours():
            ktap.equal("packets of the sender's link", made.left.counter("tx_packets"), len(sizes))
            ktap.equal("bytes of the sender's link", made.left.counter("tx_bytes"), inner)


@ktap.case("a keepalive is sent when nothing else is, and silence ends the peer")
def silence() -> None:
    """Seconds are long, so one of each."""
    with stream(GROUND) as made:
        made.left.family.listen()
        made.left.family.peer(
            ov.Cmd.PEER_SET, made.left.index, nl.u32(ov.Peer.ID, LEFT_PEER), keepalive(1, 4)
        )
        ktap.equal("size of a keepalive", len(made.left_tap.packet()), OVERHEAD + 16)
        told = made.left.family.notification(15)
        ktap.equal("reason", nl.number(told.peer[ov.Peer.DEL_REASON]), ov.Reason.EXPIRED)


@ktap.case("what cannot be a peer's connection is refused")
def refusals() -> None:
    """With the error numbers of a bad socket, or of a bad address."""
    with stream(GROUND) as made:
        fresh = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        ktap.refused(errno.ENOTSOCK, lambda: peer_over(made.left, fresh))
        fresh.bind(("127.0.0.1", 0))
        fresh.listen()
        ktap.refused(errno.ENOTSOCK, lambda: peer_over(made.left, fresh))
        fresh.close()
        # One connection, one peer.
        ktap.refused(errno.ENOTSOCK, lambda: peer_over(made.left, made.left.socket))
        ktap.refused(errno.ENOTSOCK, lambda: peer_over(made.left, made.right.socket))
        end, tap = connection(GROUND.left, GROUND.right, RIGHT4)
        remote = (nl.be16(ov.Peer.REMOTE_PORT, 1), ov.address_attr(RIGHT4, ov.Peer.REMOTE_IPV4, 0))
        ktap.refused(errno.EINVAL, lambda: peer_over(made.left, end, *remote))
        ktap.refused(
            errno.EINVAL,
            lambda: made.left.family.peer(
                ov.Cmd.PEER_SET, made.left.index, nl.u32(ov.Peer.ID, LEFT_PEER), *remote
            ),
        )
        for one in (end, tap):
            one.close()
        made.still_works()


def peer_over(end, over: socket.socket, *extra: bytes) -> None:
    """Asks for a new peer over a socket."""
    end.family.peer(
        ov.Cmd.PEER_NEW, end.index, nl.u32(ov.Peer.ID, 5), nl.u32(ov.Peer.SOCKET, over.fileno()), *extra
    )


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
