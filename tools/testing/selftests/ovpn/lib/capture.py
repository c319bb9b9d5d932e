# SPDX-License-Identifier: GPL-2.0
"""What a device sends, as the records in it: bursts are cut as a device cuts them."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import ktap
from namespace import Namespace
from wiretap import DATA_V2, OVERHEAD, header

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_STATISTICS = 6
SO_RCVBUFFORCE = 33
VNET_HDR = struct.Struct("=BBHHHH")
NEEDS_CSUM = 1
GSO_NONE, GSO_UDP_L4 = 0, 5
ETHERNET = 14
UDP = 17


@dataclass(frozen=True)
class Datagrams:
    """A UDP packet on the wire: one datagram, or many."""

    source: int
    gso: bool
    payloads: list[bytes]


class Capture:
    """Everything that a device sends, from now on."""

    def __init__(self, space: Namespace, link: str) -> None:
        with space.inside():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 27)
        self._socket.bind((link, ETH_P_ALL))
        self._socket.settimeout(1)

    def close(self) -> None:
        """Ends it; nothing may have been missed."""
        packets, dropped = struct.unpack(
            "=II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        )
        self._socket.close()
        if dropped:
            ktap.fail(f"the capture missed {dropped} of {packets} packets")

    def sent(self) -> Iterator[Datagrams]:
        """UDP packets that were sent so far."""
        while True:
            try:
                packet, address = self._socket.recvfrom(1 << 17)
            except TimeoutError:
                return
            if address[2] == socket.PACKET_OUTGOING and (udp := parse(packet)):
                yield udp


def parse(packet: bytes) -> Datagrams | None:
    """The UDP datagrams in a captured packet, if that is what it is."""
    flags, kind, _, size, start, offset = VNET_HDR.unpack_from(packet)
    frame = packet[VNET_HDR.size :]
    protocol = struct.unpack_from(">H", frame, 12)[0]
    if protocol == 0x0800:
        at, proto = ETHERNET + (frame[ETHERNET] & 15) * 4, frame[ETHERNET + 9]
    elif protocol == 0x86DD:
        at, proto = ETHERNET + 40, frame[ETHERNET + 6]
    else:
        return None
    if proto != UDP:
        return None
    payload = frame[at + 8 :]
    source, _, length = struct.unpack_from(">HHH", frame, at)
    if kind == GSO_NONE:
        ktap.equal("length in the UDP header", length, len(payload) + 8)
        return Datagrams(source, False, [payload])
    ktap.equal("kind of GSO", kind, GSO_UDP_L4)
    if not flags & NEEDS_CSUM or start != at or offset != 6:
        ktap.fail(f"checksum of a burst: flags {flags}, from {start}, at {offset}, UDP is at {at}")
    return Datagrams(source, True, [payload[i : i + size] for i in range(0, len(payload), size)])


class Ids:
    """Packet ids of one key, which must be consecutive."""

    def __init__(self, peer_id: int, key_id: int = 0) -> None:
        self._expect = (DATA_V2, key_id, peer_id)
        self.seen = 0
        self.bytes = 0

    def check(self, record: bytes) -> None:
        """The next record."""
        if len(record) <= OVERHEAD:
            ktap.fail(f"a record of {len(record)} bytes")
        self.seen += 1
        self.bytes += len(record)
        ktap.equal("opcode, key id, peer id, packet id", header(record), (*self._expect, self.seen))
