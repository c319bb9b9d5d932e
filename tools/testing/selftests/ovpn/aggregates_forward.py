#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is put together on its way in and then forwarded: it arrives as it was sent.

A socket on all addresses claims datagrams that are in transit, too, if their port is its own.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from collections.abc import Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ktap
from aggregate import arriving, gather, join_on, send_cut, snmp, snmp6, udp_in
from endpoint import Endpoint, close_all
from flow import MIB, SO_RCVBUFFORCE, tcp_to, udp_socket
from ground import LEFT4, Ground
from namespace import load_module
from pair import Setting, pair, switch
from relay import FAR, Relay
from wiretap import DATA_V2

IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0
COUNT, SIZE, LAST = 40, 1400, 700
EGRESS = ("tso", "tx-udp-segmentation", "tx-gso-list", "tx-udp_tnl-segmentation")

load_module()
GROUND = Ground()
RELAY = Relay(GROUND)
gather(GROUND)
ALL_ADDRESSES = {4: "0.0.0.0", 6: "::"}


def lookalikes(number: int) -> list[bytes]:
    """Datagrams that look like records of one peer, each of them with another content."""
    made = []
    for at in range(number, number + COUNT):
        size = LAST if at == number + COUNT - 1 else SIZE
        head = struct.pack(">III", DATA_V2 << 27 | 1, at + 1, at * 2_654_435_761 & 0xFFFFFFFF)
        made.append(head + bytes([at & 0xFF]) * (size - len(head)))
    return made


@contextlib.contextmanager
def claiming(over: int) -> Iterator[Endpoint]:
    """A tunnel's end whose socket is bound to all addresses of the one in the middle."""
    end = Endpoint(GROUND.right, "tun-right", "p2p", ALL_ADDRESSES[over])
    end.peer_new(1, (LEFT4, 9))
    end.up()
    yield end
    end.close()


def forwarded(over: int) -> int:
    """How many pieces the one in the middle has forwarded."""
    if over == 4:
        return snmp(GROUND.right, "Ip", "ForwDatagrams")
    return snmp6(GROUND.right, "Ip6OutForwDatagrams")


def in_transit(over: int, total: int, together: bool = True) -> None:
    """All of them must arrive one by one, exact and in order."""
    with claiming(over) as end:
        switch(GROUND.right, end.name, "rx-gro-hw", together)
        with GROUND.left.inside():
            source = udp_socket("0.0.0.0" if over == 4 else "::")
        with RELAY.far.inside():
            target = udp_socket(FAR[over], end.port())
        target.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 * MIB)
        pieces, arrived = forwarded(over), udp_in(RELAY.far, over)
        for number in range(0, total, COUNT):
            sent = lookalikes(number)
            send_cut(source, sent, (FAR[over], end.port()))
            for at, wanted in enumerate(sent):
                got = target.recv(65535)
                if got != wanted:
                    ktap.fail(f"datagram {number + at} is not what was sent, {len(got)} bytes")
        pieces = forwarded(over) - pieces
        ktap.equal("datagrams that the far end got", udp_in(RELAY.far, over) - arrived, total)
        ktap.note(f"IPv{over}: {total} datagrams forwarded in {pieces} pieces")
        if together and pieces * 10 > total:
            ktap.fail(f"{total} datagrams were forwarded in {pieces} pieces, not together")
        if not together and pieces < total:
            ktap.fail(f"{total} datagrams were forwarded in {pieces} pieces although that is off")
        ktap.equal("packets of the tunnel", end.counter("rx_packets") + end.counter("rx_dropped"), 0)
        for closed in (source, target):
            closed.close()


def egress(*off: str) -> None:
    """What the device to the far end does itself: everything but this."""
    for feature in EGRESS:
        switch(GROUND.right, "vc", feature, feature not in off)


@ktap.case("20000 datagrams in transit arrive one by one, IPv4")
def transit4() -> None:
    """The device that they leave by does everything itself."""
    egress()
    in_transit(4, 20_000)


@ktap.case("4000 datagrams in transit arrive one by one, IPv6")
def transit6() -> None:
    """The same."""
    egress()
    in_transit(6, 4000)


@ktap.case("the same with devices that do less themselves")
def less_egress() -> None:
    """No lists, no UDP segmentation, nothing at all; and the far end puts together, too."""
    for off in (("tx-gso-list",), ("tx-udp-segmentation",), ("tx-udp_tnl-segmentation",), EGRESS):
        egress(*off)
        for over in (4, 6):
            in_transit(over, 1200)
    join_on(GROUND.right, "vc", RELAY.far, "vd")
    for over in (4, 6):
        in_transit(over, 1200)
    switch(RELAY.far, "vd", "gro", False)
    egress()


@ktap.case("a device without checksums, scatter and gather gets whole datagrams")
def nothing_egress() -> None:
    """All of its offloads are off."""
    GROUND.right.run("ethtool", "-K", "vc", "tx", "off", "sg", "off", "gso", "off")
    for over in (4, 6):
        in_transit(over, 1200)
    GROUND.right.run("ethtool", "-K", "vc", "tx", "on", "sg", "on", "gso", "on")
    egress()


@ktap.case("with an MTU that is too small for them they are fragmented one by one")
def small_mtu() -> None:
    """Their sender allows that."""
    GROUND.right.ip("link", "set", "vc", "mtu", "1300")
    with claiming(4) as end:
        with GROUND.left.inside():
            source = udp_socket("0.0.0.0")
        with RELAY.far.inside():
            target = udp_socket(FAR[4], end.port())
        source.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
        for number in range(0, 10 * COUNT, COUNT):
            sent = lookalikes(number)
            send_cut(source, sent, (FAR[4], end.port()))
            for wanted in sent:
                if target.recv(65535) != wanted:
                    ktap.fail("a datagram is not what was sent")
        source.close()
        target.close()
    GROUND.right.ip("link", "set", "vc", "mtu", "1500")


@ktap.case("with rx-gro-hw off they are forwarded as they come")
def turned_off() -> None:
    """No piece has more than one."""
    egress()
    for over in (4, 6):
        in_transit(over, 1200, together=False)


@ktap.case("TCP out of the tunnel is forwarded, with and without TSO where it leaves")
def inner_forwarded() -> None:
    """The long packets that it becomes are cut up where they have to be."""
    for off in ((), ("tso",), EGRESS):
        egress(*off)
        for cipher in ("AES-128-GCM", "CHACHA20-POLY1305"):
            with pair(GROUND, Setting(cipher, segmentation=False)) as made:
                RELAY.tunnelled(made.left.name)
                for inner in (4, 6):
                    with arriving(GROUND.right) as seen:
                        tcp_to(GROUND.left, RELAY.far, FAR[inner])
                    ktap.note(f"{cipher}, IPv{inner}: {seen}")
                    seen.must_be_together()
    RELAY.direct()
    egress()


if __name__ == "__main__":
    code = ktap.run(close_all)
    RELAY.close()
    GROUND.close()
    sys.exit(code)
