# SPDX-License-Identifier: GPL-2.0
"""IP packets made by hand, and what became of them: cut again as a device would."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from ipaddress import ip_address

import ktap
from capture import GSO_NONE, NEEDS_CSUM, VNET_HDR

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
DONT_FRAGMENT, MORE_FRAGMENTS = 0x4000, 0x2000
GSO_TCPV4, GSO_TCPV6, GSO_ECN = 1, 4, 0x80
TIMESTAMPS = b"\1\1\x08\x0a"


def checksum(data: bytes) -> int:
    """As in RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def pseudo(source: bytes, target: bytes, protocol: int, length: int) -> bytes:
    """What a transport checksum covers besides the transport."""
    if len(source) == 4:
        return source + target + struct.pack(">BBH", 0, protocol, length)
    return source + target + struct.pack(">II", length, protocol)


@dataclass(frozen=True)
class Ip:
    """An IP header to be."""

    source: str = "10.9.0.1"
    target: str = "10.9.0.2"
    id: int = 0
    fragment: int = DONT_FRAGMENT
    tos: int = 0
    ttl: int = 64
    # IPv4 options, or IPv6 extension headers with the number of the first.
    options: bytes = b""
    extension: int = 0

    def packet(self, protocol: int, payload: bytes) -> bytes:
        """With a payload that has its checksum."""
        source, target = ip_address(self.source).packed, ip_address(self.target).packed
        if len(source) == 16:
            first = self.extension or protocol
            head = struct.pack(
                ">IHBB", 6 << 28 | self.tos << 20, len(self.options + payload), first, self.ttl
            )
            return head + source + target + self.options + payload
        length = 20 + len(self.options)
        head = struct.pack(
            ">BBHHHBBH", 0x40 | length // 4, self.tos, length + len(payload), self.id,
            self.fragment, self.ttl, protocol, 0,
        )
        head += source + target + self.options
        return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload

    def sealed(self, protocol: int, transport: bytes, at: int) -> bytes:
        """With a transport whose checksum goes there."""
        source, target = ip_address(self.source).packed, ip_address(self.target).packed
        total = checksum(pseudo(source, target, protocol, len(transport)) + transport)
        return self.packet(protocol, transport[:at] + struct.pack(">H", total) + transport[at + 2 :])


@dataclass(frozen=True)
class Tcp:
    """A TCP segment to be."""

    payload: bytes = b""
    sequence: int = 1000
    ack: int = 1
    flags: int = ACK
    window: int = 500
    options: bytes = b""
    ports: tuple[int, int] = (40000, 50000)
    urgent: int = 0

    def on(self, ip: Ip) -> bytes:
        """The whole packet."""
        head = struct.pack(
            ">HHIIBBHHH", *self.ports, self.sequence, self.ack,
            (20 + len(self.options)) // 4 << 4, self.flags, self.window, 0, self.urgent,
        )
        return ip.sealed(TCP, head + self.options + self.payload, 16)


def stream(count: int, size: int, tcp: Tcp = Tcp(), ip: Ip = Ip()) -> list[bytes]:
    """Segments that follow each other, each with another content."""
    return [
        replace(
            tcp, sequence=tcp.sequence + number * size & 0xFFFFFFFF, payload=content(number, size)
        ).on(replace(ip, id=ip.id + number & 0xFFFF))
        for number in range(count)
    ]


def content(number: int, size: int) -> bytes:
    """Bytes that differ with the number."""
    return bytes(number * 7 + at * 3 & 0xFF for at in range(size))


def udp(payload: bytes, ip: Ip = Ip(), ports: tuple[int, int] = (40000, 50000)) -> bytes:
    """A UDP datagram."""
    head = struct.pack(">HHHH", *ports, 8 + len(payload), 0)
    return ip.sealed(UDP, head + payload, 6)


def echo(payload: bytes, ip: Ip = Ip()) -> bytes:
    """An ICMP echo reply, which nobody answers."""
    head = struct.pack(">BBHHH", 0, 0, 0, 1, 1)
    total = checksum(head + payload)
    return ip.packet(ICMP, head[:2] + struct.pack(">H", total) + head[4:] + payload)


def flow(packet: bytes) -> bytes:
    """What is the same for all packets of a flow: only they keep their order."""
    if packet[0] >> 4 == 4:
        if struct.unpack_from(">H", packet, 2)[0] != len(packet):
            return packet
        return packet[9:10] + packet[12:20] + packet[20:24]
    return packet[6:7] + packet[8:40] + packet[40:44]


def recut(captured: bytes, same_ids: bool = False) -> list[bytes]:
    """The packets in a captured one with its header: the kind of list a device would send."""
    flags, kind, _, size, start, offset = VNET_HDR.unpack_from(captured)
    packet = captured[VNET_HDR.size :]
    if kind == GSO_NONE:
        return [completed(packet, start, offset) if flags & NEEDS_CSUM else packet]
    if kind & ~GSO_ECN not in (GSO_TCPV4, GSO_TCPV6):
        ktap.fail(f"a packet of kind {kind} of GSO")
    headers = start + (packet[start + 12] >> 4) * 4
    payload = packet[headers:]
    cut = [payload[at : at + size] for at in range(0, len(payload), size)]
    made = []
    for number, piece in enumerate(cut):
        head = bytearray(packet[:headers])
        sequence = struct.unpack_from(">I", head, start + 4)[0]
        struct.pack_into(">I", head, start + 4, sequence + number * size & 0xFFFFFFFF)
        if number < len(cut) - 1:
            head[start + 13] &= ~(PSH | FIN)
        if number:
            head[start + 13] &= ~CWR
        if head[0] >> 4 == 4 and not same_ids:
            ident = struct.unpack_from(">H", head, 4)[0]
            struct.pack_into(">H", head, 4, ident + number & 0xFFFF)
        made.append(completed(bytes(head) + piece, start, offset))
    return made


def completed(packet: bytes, start: int, offset: int) -> bytes:
    """With the length and the checksums that belong to it."""
    made = bytearray(packet)
    if made[0] >> 4 == 4:
        struct.pack_into(">H", made, 2, len(made))
        struct.pack_into(">H", made, 10, 0)
        struct.pack_into(">H", made, 10, checksum(bytes(made[: (made[0] & 15) * 4])))
        source, target = bytes(made[12:16]), bytes(made[16:20])
    else:
        struct.pack_into(">H", made, 4, len(made) - 40)
        source, target = bytes(made[8:24]), bytes(made[24:40])
    # There may be other headers in between, but these two differ in where the checksum is.
    protocol = TCP if offset == 16 else UDP
    struct.pack_into(">H", made, start + offset, 0)
    transport = bytes(made[start:])
    total = checksum(pseudo(source, target, protocol, len(transport)) + transport)
    struct.pack_into(">H", made, start + offset, total)
    return bytes(made)
