#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A peer in use: where it is, what it may send, whether it lives, what it counts."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import close_all, keepalive, udp_socket, vpn
from ground import Ground
from namespace import load_module
from wiretap import DATA_V2, IP_UDP, OVERHEAD, Tunnel, flipped, header

KEEPALIVE_RECORD = OVERHEAD + 16

load_module()
GROUND = Ground()


@ktap.case("multipeer: a packet to nobody is dropped and counted, sendto succeeds")
def no_peer() -> None:
    """The right end knows 10.9.0.1 alone."""
    made = GROUND.tunnel("mp")
    before = made.right.counter("tx_dropped")
    with GROUND.right.inside():
        sender = udp_socket("10.9.0.2")
    for _ in range(5):
        sender.sendto(b"to nobody", ("10.9.0.77", 1))
    ktap.equal("drops counted", made.right.counter("tx_dropped") - before, 5)
    sender.close()
    made.still_works()
    made.close()


@ktap.case("multipeer: a peer must not send from an address that is not its own")
def source_check() -> None:
    """The peer's address is changed while a record is under way."""
    made = GROUND.tunnel("mp")
    record = made.record(b"whose am I")
    attrs = [nl.u32(ov.Peer.ID, 1), vpn("10.9.0.66")]
    made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *attrs)
    made.dropped("another's address", record)
    attrs = [nl.u32(ov.Peer.ID, 1), vpn("10.9.0.1")]
    made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *attrs)
    made.still_works()
    made.close()


def float_to(made: Tunnel, address: str) -> socket.socket:
    """A second place from which the tap sends."""
    with GROUND.left.inside():
        return udp_socket(address)


@ktap.case("a peer that sends from elsewhere has moved there, once the record is authentic")
def floating() -> None:
    """Told to userspace, and answers go to the new place."""
    for mode in ("p2p", "mp"):
        made = GROUND.tunnel(mode)
        made.right.family.listen()
        elsewhere = float_to(made, "192.0.2.11")
        record = made.record(b"moved")
        made.deliver(flipped(record, 30), elsewhere)
        made.nothing_arrives()
        remote = made.right.get(1)[ov.Peer.REMOTE_IPV4]
        ktap.equal("remote after a forged record", ov.address(remote), "192.0.2.1")
        made.deliver(record, elsewhere)
        made.arrives(b"moved")
        heard = made.right.family.notification()
        ktap.equal("notification", heard.command, ov.Cmd.PEER_FLOAT_NTF)
        ktap.equal("peer", nl.number(heard.peer[ov.Peer.ID]), 1)
        place = (ov.address(heard.peer[ov.Peer.REMOTE_IPV4]), ov.port(heard.peer[ov.Peer.REMOTE_PORT]))
        ktap.equal("new remote as told", place, elsewhere.getsockname())
        peer = made.right.get(1)
        place = (ov.address(peer[ov.Peer.REMOTE_IPV4]), ov.port(peer[ov.Peer.REMOTE_PORT]))
        ktap.equal("new remote as read", place, elsewhere.getsockname())
        made.dropped("the same record from where it was", record)
        remote = made.right.get(1)[ov.Peer.REMOTE_IPV4]
        ktap.equal("remote after a record that came twice", ov.address(remote), "192.0.2.11")
        made.target.sendto(b"answer", made.source.getsockname())
        ktap.equal("answer", header(elsewhere.recv(65535))[:3], (DATA_V2, 0, 2))
        elsewhere.close()
        made.close()


@ktap.case("an idle peer is sent keepalives, and they keep the other side alive")
def keepalives() -> None:
    """The left end sends each second, the right end expires after three."""
    made = GROUND.tunnel()
    made.right.family.listen()
    peer = nl.u32(ov.Peer.ID, 2)
    made.left.family.peer(ov.Cmd.PEER_SET, made.left.index, peer, keepalive(1, 60))
    peer = nl.u32(ov.Peer.ID, 1)
    made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, peer, keepalive(60, 3))
    end = time.monotonic() + 7
    seen = 0
    while time.monotonic() < end:
        record = made.tap.recv(65535)
        ktap.equal("length of a keepalive", len(record), KEEPALIVE_RECORD)
        made.deliver(record)
        seen += 1
    ktap.note(f"{seen} keepalives in 7 s")
    # Raises if it is gone, and then its records would end in the socket, undropped.
    made.right.get(1)
    made.nothing_arrives()
    ktap.equal("drops counted", made.right.counter("rx_dropped"), 0)
    heard = made.right.family.notification(8)
    ktap.equal("notification", heard.command, ov.Cmd.PEER_DEL_NTF)
    ktap.equal("reason", nl.number(heard.peer[ov.Peer.DEL_REASON]), ov.Reason.EXPIRED)
    made.close()


@ktap.case("records that are forged or came before keep nobody alive")
def rubbish_is_no_life() -> None:
    """They come all the time; the peer expires all the same."""
    made = GROUND.tunnel()
    made.right.family.listen()
    attrs = [nl.u32(ov.Peer.ID, 1), keepalive(60, 3)]
    made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *attrs)
    record = made.record(b"alive")
    made.deliver(record)
    made.arrives(b"alive")
    heard = None
    end = time.monotonic() + 15
    while heard is None and time.monotonic() < end:
        made.deliver(record)
        made.deliver(flipped(record, 30))
        with contextlib.suppress(TimeoutError):
            heard = made.right.family.notification(0.3)
    if heard is None:
        ktap.fail("the peer lives on")
    ktap.equal("notification", heard.command, ov.Cmd.PEER_DEL_NTF)
    ktap.equal("reason", nl.number(heard.peer[ov.Peer.DEL_REASON]), ov.Reason.EXPIRED)
    made.close()


@ktap.case("the peer's counters agree with what was sent, to the byte")
def counters() -> None:
    """Inside and outside, both directions; a dropped record counts outside."""
    made = GROUND.tunnel()
    sizes = [10, 500, 1000]
    for size in sizes:
        record = made.record(bytes(size))
        made.deliver(record)
        made.arrives(bytes(size))
        made.deliver(record)
        made.nothing_arrives()
    inner = sum(sizes) + len(sizes) * IP_UDP
    outer = inner + len(sizes) * OVERHEAD
    sent, got = made.left.get(2), made.right.get(1)
    ktap.equal("sent", tally(sent, "TX"), (3, inner, 3, outer))
    ktap.equal("received", tally(got, "RX"), (3, inner, 6, 2 * outer))
    ktap.equal("nothing the other way", tally(sent, "RX") + tally(got, "TX"), (0,) * 8)
    ktap.equal("packets of the sending link", made.left.counter("tx_packets"), 3)
    ktap.equal("packets of the receiving link", made.right.counter("rx_packets"), 3)
    ktap.equal("bytes of the receiving link", made.right.counter("rx_bytes"), inner)
    made.close()


def tally(peer: dict[int, bytes], way: str) -> tuple[int, ...]:
    """Packets and bytes inside, packets and bytes outside."""
    names = (f"VPN_{way}_PACKETS", f"VPN_{way}_BYTES", f"LINK_{way}_PACKETS", f"LINK_{way}_BYTES")
    return tuple(nl.number(peer[ov.Peer[name]]) for name in names)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
