#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records on the wire: good ones pass once, all others are dropped."""

from __future__ import annotations

import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
from endpoint import close_all
from ground import Ground
from inner import UDP, checksum
from namespace import load_module
from wiretap import DATA_V1, DATA_V2, INNER_PORT, IP_UDP, OVERHEAD, flipped, header

WINDOW = 2048
ETH_P_IP = 0x0800

load_module()
GROUND = Ground()


@ktap.case("a record has the format of DATA_V2 and its packet ids count from 1")
def wire_format() -> None:
    """Nothing but 24 bytes are added."""
    made = GROUND.tunnel()
    for number in range(1, 6):
        payload = bytes(100 * number)
        record = made.record(payload)
        ktap.equal("header", header(record), (DATA_V2, 0, 1, number))
        ktap.equal("length", len(record), OVERHEAD + IP_UDP + len(payload))
        made.deliver(record)
        made.arrives(payload)
    made.close()


@ktap.case("in a record a datagram has its checksum, whatever its length, and never 0")
def checksums() -> None:
    """Its socket leaves that to the interface."""
    made = GROUND.tunnel()
    ends = socket.inet_aton("10.9.0.1") + socket.inet_aton("10.9.0.2")
    with GROUND.right.inside(), socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap:
        tap.bind(("tun-right", ETH_P_IP))
        tap.settimeout(5)
        ports = struct.pack(">HH", made.source.getsockname()[1], INNER_PORT)
        last = checksum(ends + struct.pack(">HH", UDP, 10) + ports + struct.pack(">H", 10))
        payloads = [bytes(range(1, length + 1)) for length in (*range(33), 63, 64, 65, 255)]
        for payload in (*payloads, struct.pack(">H", last)):
            made.deliver(made.record(payload))
            made.arrives(payload)
            packet = tap.recv(65535)
            ktap.equal("payload", packet[IP_UDP:], payload)
            length = struct.pack(">HH", UDP, len(packet) - 20)
            ktap.equal(f"sum of {len(payload)} bytes", checksum(ends + length + packet[20:]), 0)
        ktap.equal("a checksum that would be 0", packet[26:28], b"\xff\xff")
    made.close()


@ktap.case("the same record passes once")
def replay() -> None:
    """At once and later."""
    made = GROUND.tunnel()
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
    made = GROUND.tunnel()
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
        made = GROUND.tunnel(cipher=cipher)
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
    made = GROUND.tunnel()
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
    made = GROUND.tunnel()
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
    made = GROUND.tunnel()
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
    made = GROUND.tunnel()
    made.left.family.key_del(made.left.index, 2, ov.Slot.PRIMARY)
    before = made.left.counter("tx_dropped")
    made.source.sendto(b"lost", ("10.9.0.2", 1))
    ktap.equal("drops counted", made.left.counter("tx_dropped") - before, 1)
    made.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
