#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What went wrong in the field with drivers of this kind, as far as no other test tries it.

Documentation/field-reports.md lists all of it, with the tests that do.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import Endpoint, close_all, point_to_point, udp_socket, vpn
from ground import LEFT4, LEFT6, RIGHT6, Ground
from namespace import load_module
from pace import wait_for
from wiretap import DATA_V2, Tunnel, header

# What one sends as peer id who was given none.
NO_ID = 0xFFFFFF
REMOTE = ("192.0.2.77", 1194)
IPV6_FLOWLABEL_MGR, IPV6_FLOWINFO_SEND = 32, 33

load_module()
GROUND = Ground()


@contextlib.contextmanager
def tunnel(mode: str) -> Iterator[Tunnel]:
    """A tunnel for the time of a block."""
    made = GROUND.tunnel(mode)
    try:
        yield made
    finally:
        made.close()


def record(made: Tunnel, payload: bytes, peer_id: int = 1) -> bytes:
    """A record that names that peer, which is part of what is authenticated."""
    attrs = [nl.u32(ov.Peer.ID, 2), nl.u32(ov.Peer.TX_ID, peer_id)]
    made.left.family.peer(ov.Cmd.PEER_SET, made.left.index, *attrs)
    return made.record(payload)


def place(told: dict[int, bytes]) -> tuple[str, int]:
    """Where a peer is said to be."""
    kind = ov.Peer.REMOTE_IPV4 if ov.Peer.REMOTE_IPV4 in told else ov.Peer.REMOTE_IPV6
    return ov.address(told[kind]), ov.port(told[ov.Peer.REMOTE_PORT])


@ktap.case("a socket is taken over while packets arrive: each control packet reaches the daemon once")
def taken_over() -> None:
    """And no record does, once the peer is there."""
    with tunnel("mp") as made:
        data = made.record(b"x")
        made.right.family.peer_del(made.right.index, 1)
        made.right.socket.setsockopt(socket.SOL_SOCKET, nl.SO_RCVBUFFORCE, 1 << 26)
        stop, sent = threading.Event(), [0]

        def flood() -> None:
            while not stop.is_set():
                made.deliver(struct.pack(">BI", 4 << 3, sent[0]))
                made.deliver(data)
                sent[0] += 1

        sender = threading.Thread(target=flood)
        sender.start()
        for _ in range(100):
            made.right.peer_new(1, made.tap.getsockname(), vpn("10.9.0.1"))
            made.right.family.peer_del(made.right.index, 1)
        stop.set()
        sender.join()
        numbers = []
        made.right.socket.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while True:
                packet = made.right.socket.recv(2000)
                if packet[0] == 4 << 3:
                    numbers.append(struct.unpack(">BI", packet)[1])
        ktap.note(f"{sent[0]} control packets")
        ktap.equal("control packets that reached the daemon", len(numbers), sent[0])
        ktap.equal("they came in order", numbers == list(range(sent[0])), True)
        made.right.peer_new(1, made.tap.getsockname(), vpn("10.9.0.1"))
        made.deliver(data)
        with contextlib.suppress(TimeoutError):
            ktap.fail(f"a record reached the daemon: {made.right.socket.recv(100)!r}")


@ktap.case("peer to peer: closing the socket of a peer that was replaced leaves the new one alone")
def replaced() -> None:
    """One notification each."""
    end = point_to_point(GROUND.right)
    with GROUND.right.inside():
        other = udp_socket("127.0.0.1")
    end.family.listen()
    end.peer_new(1, REMOTE)
    attrs = [nl.u32(ov.Peer.ID, 2), nl.u32(ov.Peer.SOCKET, other.fileno()), nl.be16(ov.Peer.REMOTE_PORT, 5)]
    end.family.peer(ov.Cmd.PEER_NEW, end.index, *attrs, ov.address_attr(REMOTE[0], ov.Peer.REMOTE_IPV4, 0))
    told(end, 1, ov.Reason.TEARDOWN)
    end.socket.close()
    ktap.equal("peers", [nl.number(peer[ov.Peer.ID]) for peer in end.family.peer_dump(end.index)], [2])
    other.close()
    told(end, 2, ov.Reason.TRANSPORT_DISCONNECT)
    end.close()


def told(end: Endpoint, number: int, reason: ov.Reason) -> None:
    """The next notification is that of a deletion."""
    heard = end.family.notification()
    got = (heard.command, nl.number(heard.peer[ov.Peer.ID]), nl.number(heard.peer[ov.Peer.DEL_REASON]))
    ktap.equal("notification", got, (ov.Cmd.PEER_DEL_NTF, number, reason))


@ktap.case("a peer that moves a hundred times is found by each new address, and told of once each")
def moves() -> None:
    """By records that name no peer."""
    with tunnel("mp") as made:
        made.right.family.listen()
        for port in range(6000, 6100):
            with GROUND.left.inside():
                elsewhere = udp_socket(LEFT4, port)
            made.deliver(record(made, b"with an id"), elsewhere)
            made.arrives(b"with an id")
            made.deliver(record(made, b"without an id", NO_ID), elsewhere)
            made.arrives(b"without an id")
            ktap.equal("told", place(made.right.family.notification().peer), (LEFT4, port))
            elsewhere.close()
        silent(made.right)


def silent(end: Endpoint) -> None:
    """Nothing more is told."""
    with contextlib.suppress(TimeoutError):
        ktap.fail(f"told once more: {end.family.notification(0.3)}")


@ktap.case("IPv6 flow labels are no part of a peer's address")
def flow_labels() -> None:
    """It moves once, whatever label its records have."""
    with tunnel("mp") as made:
        right = Endpoint(GROUND.right, "tun-six", "mp", RIGHT6)
        with GROUND.left.inside():
            tap = udp_socket(LEFT6, 6200)
        right.peer_new(5, (LEFT6, 6201), vpn("10.9.0.1"))
        right.key_new(5, "AES-256-GCM", (2, 1))
        right.up("10.9.0.3/24")
        right.family.listen()
        tap.setsockopt(socket.IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1)
        for label in (0x11111, 0x22222, 0x33333):
            wanted = socket.inet_pton(socket.AF_INET6, RIGHT6) + struct.pack(">I", label)
            wanted += struct.pack("=BBHHHI", 0, 1, 1, 0, 0, 0)
            tap.setsockopt(socket.IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, wanted)
        for number, label in enumerate((0x11111, 0x22222, 0x33333, 0)):
            labelled = record(made, b"labelled", NO_ID if number else 5)
            before = right.counter("rx_packets")
            # Python has the label in host order, of the number that is on the wire.
            tap.sendto(labelled, (RIGHT6, right.port(), label, 0))
            wait_for(lambda: right.counter("rx_packets") > before, f"record with label {label:#x} had no effect")
        ktap.equal("told", place(right.family.notification().peer), (LEFT6, 6200))
        silent(right)
        tap.close()
        right.close()


@ktap.case("after PEER_SET a peer is found at its new address and not at the old one")
def set_elsewhere() -> None:
    """There and back."""
    with tunnel("mp") as made, contextlib.ExitStack() as stack:
        with GROUND.left.inside():
            other = stack.enter_context(udp_socket(LEFT4, 6300))
        for here, there in ((other, made.tap), (made.tap, other), (other, made.tap)):
            address, port = here.getsockname()
            attrs = [nl.u32(ov.Peer.ID, 1), nl.be16(ov.Peer.REMOTE_PORT, port)]
            attrs.append(ov.address_attr(address, ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6))
            made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *attrs)
            before = made.right.counter("rx_dropped")
            made.deliver(record(made, b"from the old place", NO_ID), there)
            made.nothing_arrives()
            ktap.equal("drops", made.right.counter("rx_dropped") - before, 1)
            made.deliver(record(made, b"from the new place", NO_ID), here)
            made.arrives(b"from the new place")


@ktap.case("addresses inside change there and back: traffic reaches the peer that has them now")
def readdressed() -> None:
    """Two peers behind two taps; who has no address gets nothing."""
    with tunnel("mp") as made, contextlib.ExitStack() as stack:
        with GROUND.left.inside():
            second = stack.enter_context(udp_socket(LEFT4, 6400))
        made.right.peer_new(2, second.getsockname(), vpn("10.9.0.4"))
        made.right.key_new(2, "AES-256-GCM", (2, 1))
        taps = {1: made.tap, 2: second}
        steps = [(1, "10.9.0.1"), (1, "10.9.0.6"), (1, "10.9.0.1"), (2, "10.9.0.6"), (1, "10.9.0.4"), (2, "10.9.0.4")]
        owner = {"10.9.0.1": 1, "10.9.0.4": 2}
        for peer, address in steps:
            attrs = [nl.u32(ov.Peer.ID, peer), vpn(address)]
            with contextlib.suppress(nl.NetlinkError):
                made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *attrs)
                owner = {a: p for a, p in owner.items() if p != peer} | {address: peer}
            for inside in ("10.9.0.1", "10.9.0.4", "10.9.0.6"):
                made.target.sendto(b"to whom?", (inside, 9))
                ktap.equal(f"who gets {inside}", getting(taps), owner.get(inside))


def getting(taps: dict[int, socket.socket]) -> int | None:
    """The peer whose tap got a record."""
    found = None
    for peer, tap in taps.items():
        tap.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            ktap.equal("opcode", header(tap.recv(2000))[0], DATA_V2)
            found = peer
        tap.settimeout(5)
    return found


@ktap.case("networks behind peers: the best route names the peer, also when it changes")
def behind() -> None:
    """A network behind one, an address of it behind the other, IPv4 and IPv6."""
    with tunnel("mp") as made, contextlib.ExitStack() as stack:
        made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, nl.u32(ov.Peer.ID, 1), vpn("fd09::1"))
        with GROUND.left.inside():
            second = stack.enter_context(udp_socket(LEFT4, 6500))
        made.right.peer_new(2, second.getsockname(), vpn("10.9.0.8"), vpn("fd09::8"))
        made.right.key_new(2, "AES-256-GCM", (2, 1))
        GROUND.right.ip("address", "add", "fd09::2/64", "dev", "tun-right", "nodad")
        taps = {1: made.tap, 2: second}
        networks = (("10.20.0", ".0/24", ".74", ".5", "10.9.0."), ("fd20:", ":/64", ":74", ":5", "fd09::"))
        with GROUND.right.inside():
            senders = (stack.enter_context(udp_socket("10.9.0.2")), stack.enter_context(udp_socket("fd09::2")))
        for (net, whole, one, other, via), sender in zip(networks, senders):
            dev = ("dev", "tun-right")
            GROUND.right.ip("route", "add", net + whole, "via", f"{via}1", *dev, "metric", "100")
            GROUND.right.ip("route", "add", net + whole, "via", f"{via}8", *dev, "metric", "200")
            best = "/32" if "." in net else "/128"
            GROUND.right.ip("route", "add", f"{net}{one}{best}", "via", f"{via}8", *dev)
            for host, peer in ((other, 1), (one, 2)):
                sender.sendto(b"behind", (net + host, 9))
                ktap.equal(f"who gets {net}{host}", getting(taps), peer)
            GROUND.right.ip("route", "delete", f"{net}{one}{best}", "via", f"{via}8", *dev)
            sender.sendto(b"behind", (net + one, 9))
            ktap.equal(f"who gets {net}{one} then", getting(taps), 1)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
