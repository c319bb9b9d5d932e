#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records on the wire: good ones pass once, all others are dropped."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import Endpoint, keepalive, udp_socket, vpn
from namespace import Namespace, load_module
from wiretap import IP_UDP, OVERHEAD, Tunnel

DATA_V1, DATA_V2 = 6, 9
WINDOW = 2048
KEEPALIVE_RECORD = OVERHEAD + 16

load_module()
LEFT = Namespace("ovpn-left")
RIGHT = Namespace("ovpn-right")
LEFT.ip("link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", RIGHT.name)
for space, name, host in ((LEFT, "va", 1), (RIGHT, "vb", 2)):
    for number in range(3):
        space.ip("address", "add", f"192.0.2.{host + number * 10}/24", "dev", name)
    space.ip("address", "add", f"2001:db8::{host}/64", "dev", name, "nodad")
    space.ip("link", "set", name, "up")


def tunnel(mode: str = "p2p", cipher: str = "AES-256-GCM") -> Tunnel:
    """Left is peer 1 of the right end, right is peer 2 of the left end."""
    with LEFT.inside():
        tap = udp_socket("192.0.2.1")
    left = Endpoint(LEFT, "tun-left", "p2p", "192.0.2.1")
    right = Endpoint(RIGHT, "tun-right", mode, "192.0.2.2")
    left.peer_new(2, tap.getsockname(), nl.u32(ov.Peer.TX_ID, 1))
    extra = [vpn("10.9.0.1")] if mode == "mp" else []
    right.peer_new(1, tap.getsockname(), nl.u32(ov.Peer.TX_ID, 2), *extra)
    left.key_new(2, cipher, (1, 2))
    right.key_new(1, cipher, (2, 1))
    left.up("10.9.0.1/24")
    right.up("10.9.0.2/24")
    return Tunnel(left, right, tap)


def header(record: bytes) -> tuple[int, int, int, int]:
    """Opcode, key id, peer id, packet id."""
    word, packet_id = struct.unpack_from(">II", record)
    return word >> 27, word >> 24 & 7, word & 0xFFFFFF, packet_id


def flipped(record: bytes, where: int, bits: int = 1) -> bytes:
    """The record with one byte changed."""
    changed = bytearray(record)
    changed[where] ^= bits
    return bytes(changed)


@ktap.case("a record has the format of DATA_V2 and its packet ids count from 1")
def wire_format() -> None:
    """Nothing but 24 bytes are added."""
    made = tunnel()
    for number in range(1, 6):
        payload = bytes(100 * number)
        record = made.record(payload)
        ktap.equal("header", header(record), (DATA_V2, 0, 1, number))
        ktap.equal("length", len(record), OVERHEAD + IP_UDP + len(payload))
        made.deliver(record)
        made.arrives(payload)
    made.close()


@ktap.case("the same record passes once")
def replay() -> None:
    """At once and later."""
    made = tunnel()
    records = made.records(10)
    for number, record in enumerate(records, 1):
        made.deliver(record)
        made.arrives(b"number %d" % number)
        made.dropped(f"replay of {number}", record)
    made.dropped("replay of the first", records[0])
    made.still_works()
    made.close()


@ktap.case("records in any order pass within the window of 2048, older ones do not")
def window() -> None:
    """The newest first, then the oldest that may pass and the one before it."""
    made = tunnel()
    records = made.records(WINDOW + 100)
    newest = len(records)
    made.deliver(records[newest - 1])
    made.arrives(b"number %d" % newest)
    oldest = newest - WINDOW + 1
    made.dropped("one too old", records[oldest - 2])
    for number in (oldest, newest - 1, oldest + 70, oldest + 1):
        made.deliver(records[number - 1])
        made.arrives(b"number %d" % number)
    made.dropped("the first", records[0])
    made.dropped("the oldest again", records[oldest - 1])
    made.still_works()
    made.close()


@ktap.case("a record changed in any part is dropped")
def corrupted() -> None:
    """For each cipher: key id, peer id, packet id, tag, payload, length."""
    for cipher in ("AES-256-GCM", "CHACHA20-POLY1305"):
        made = tunnel(cipher=cipher)
        record = made.record(b"intact")
        changes = {
            "key id": flipped(record, 0),
            "peer id": flipped(record, 3, 2),
            "packet id": flipped(record, 7, 0x40),
            "tag": flipped(record, 8),
            "end of the tag": flipped(record, 23),
            "payload": flipped(record, 24),
            "end of the payload": flipped(record, len(record) - 1),
            "cut": record[:-1],
            "longer": record + b"\0",
            "no payload": record[:OVERHEAD],
            "packet id 0": record[:4] + bytes(4) + record[8:],
        }
        for what, changed in changes.items():
            made.dropped(f"{cipher}, {what}", changed)
        made.deliver(record)
        made.arrives(b"intact")
        made.still_works()
        made.close()


@ktap.case("a datagram too short to be a record is dropped")
def too_short() -> None:
    """From the opcode alone to one byte less than the tag needs."""
    made = tunnel()
    record = made.record(b"whole")
    for length in range(4, OVERHEAD):
        made.dropped(f"{length} bytes", record[:length])
    for length in range(1, 4):
        made.deliver(record[:length])
        made.nothing_arrives()
    made.still_works()
    made.close()


@ktap.case("whatever is no data reaches the daemon's socket as it was")
def control() -> None:
    """Every opcode but those of data, short and long."""
    made = tunnel()
    made.right.socket.settimeout(5)
    for opcode in set(range(32)) - {DATA_V1, DATA_V2}:
        for length in (4, 14, 1200):
            packet = bytes([opcode << 3]) + bytes(i & 0xFF for i in range(length - 1))
            made.deliver(packet)
            got, sender = made.right.socket.recvfrom(65535)
            ktap.equal(f"opcode {opcode}, {length} bytes", got, packet)
            ktap.equal("its sender", sender, made.tap.getsockname())
    made.nothing_arrives()
    made.still_works()
    made.close()


@ktap.case("keys rotate: both slots receive, the primary one sends")
def rotation() -> None:
    """A late record of the old key passes until that key is deleted."""
    made = tunnel()
    late = made.records(2)
    made.left.key_new(2, "AES-128-GCM", (3, 4), 1, ov.Slot.SECONDARY)
    made.right.key_new(1, "AES-128-GCM", (4, 3), 1, ov.Slot.SECONDARY)
    made.left.family.key_swap(made.left.index, 2)
    record = made.record(b"new key")
    ktap.equal("header", header(record), (DATA_V2, 1, 1, 1))
    made.deliver(record)
    made.arrives(b"new key")
    made.right.family.key_swap(made.right.index, 1)
    made.deliver(late[0])
    made.arrives(b"number 1")
    made.right.family.key_del(made.right.index, 1, ov.Slot.SECONDARY)
    made.dropped("a record of the deleted key", late[1])
    made.still_works()
    made.close()


@ktap.case("without a primary key nothing is sent, and that is counted")
def no_key() -> None:
    """The sender is not told."""
    made = tunnel()
    made.left.family.key_del(made.left.index, 2, ov.Slot.PRIMARY)
    before = made.left.counter("tx_dropped")
    made.source.sendto(b"lost", ("10.9.0.2", 1))
    ktap.equal("drops counted", made.left.counter("tx_dropped") - before, 1)
    made.close()


@ktap.case("multipeer: a packet to nobody is dropped and counted, sendto succeeds")
def no_peer() -> None:
    """The right end knows 10.9.0.1 alone."""
    made = tunnel("mp")
    before = made.right.counter("tx_dropped")
    with RIGHT.inside():
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
    made = tunnel("mp")
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
    with LEFT.inside():
        return udp_socket(address)


@ktap.case("a peer that sends from elsewhere has moved there, once the record is authentic")
def floating() -> None:
    """Told to userspace, and answers go to the new place."""
    for mode in ("p2p", "mp"):
        made = tunnel(mode)
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
        made.target.sendto(b"answer", made.source.getsockname())
        ktap.equal("answer", header(elsewhere.recv(65535))[:3], (DATA_V2, 0, 2))
        elsewhere.close()
        made.close()


@ktap.case("an idle peer is sent keepalives, and they keep the other side alive")
def keepalives() -> None:
    """The left end sends each second, the right end expires after three."""
    made = tunnel()
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
    made.nothing_arrives()
    ktap.equal("drops counted", made.right.counter("rx_dropped"), 0)
    heard = made.right.family.notification(8)
    ktap.equal("notification", heard.command, ov.Cmd.PEER_DEL_NTF)
    ktap.equal("reason", nl.number(heard.peer[ov.Peer.DEL_REASON]), ov.Reason.EXPIRED)
    made.close()


@ktap.case("the peer's counters agree with what was sent, to the byte")
def counters() -> None:
    """Inside and outside, both directions; a dropped record counts outside."""
    made = tunnel()
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
    code = ktap.run()
    LEFT.delete()
    RIGHT.delete()
    sys.exit(code)
