#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is inside of records that arrive together: TCP becomes long packets, and nothing changes.

Each packet that comes out is cut up again as a device would, and compared byte for byte.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import replace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import inner
import ktap
from aggregate import snmp
from endpoint import close_all, udp_socket
from ground import Ground
from inner import ACK, CWR, ECE, FIN, PSH, RST, SYN, URG, Ip, Tcp, stream
from namespace import load_module
from stage import Stage, datagrams, stage

SIX = Ip("fd09::1", "fd09::2")
COUNT, SIZE = 8, 50
# As the driver's keepalive message begins, and as it is in openvpn.
KEEPALIVE = bytes.fromhex("2a187bf3641eb4cb07ed2d0a981fc748")

load_module()
GROUND = Ground()


def stamped(value: int) -> bytes:
    """The option of TCP timestamps."""
    return b"\1\1\x08\x0a" + struct.pack(">II", value, 7)


def each_ip() -> tuple[Ip, ...]:
    """IPv4 with DF, without, and IPv6."""
    return Ip(), Ip(fragment=0, id=65_533), SIX


@ktap.case("TCP segments that follow each other come up as one packet")
def one_packet() -> None:
    """With and without timestamps; the sequence number and the id pass their end."""
    with stage(GROUND) as end:
        for ip in each_ip():
            for tcp in (Tcp(), Tcp(options=stamped(5)), Tcp(sequence=0xFFFFFFFF - 120, ports=(1, 2))):
                end.passes(stream(COUNT, SIZE, tcp, ip), 1, 1)


@ktap.case("the last segment may be shorter, and may push")
def last_shorter() -> None:
    """What follows begins a new packet."""
    with stage(GROUND) as end:
        for ip in each_ip():
            packets = stream(COUNT, SIZE, Tcp(), ip)
            rest = Tcp(b"end", sequence=1000 + COUNT * SIZE, flags=ACK | PSH)
            packets.append(rest.on(replace(ip, id=ip.id + COUNT & 0xFFFF)))
            end.passes(packets, 1, 1)


@ktap.case("no packet becomes longer than the interface allows")
def interface_limit() -> None:
    """It says so for each IP version."""
    with stage(GROUND) as end:
        for ip, name in ((Ip(), "gro_ipv4_max_size"), (SIX, "gro_max_size")):
            packets = stream(COUNT, SIZE, Tcp(), ip)
            headers = len(packets[0]) - SIZE
            for most in (0, headers + 4 * SIZE, headers + 4 * SIZE + 1, 300, 65_536):
                GROUND.right.ip("link", "set", "tun-right", name, str(most))
                each = max((most - 1 - headers) // SIZE, 1)
                end.passes(packets, 1, -(-COUNT // each))


@ktap.case("a push in the middle ends a packet")
def push() -> None:
    """The flag stays where it was."""
    with stage(GROUND) as end:
        for ip in each_ip():
            packets = stream(COUNT, SIZE, Tcp(), ip)
            packets[3] = Tcp(
                inner.content(3, SIZE), sequence=1000 + 3 * SIZE, flags=ACK | PSH
            ).on(replace(ip, id=ip.id + 3 & 0xFFFF))
            end.passes(packets, 1, 2)


@ktap.case("segments with the same IPv4 id, or with ids that jump")
def ids() -> None:
    """They keep their ids."""
    with stage(GROUND) as end:
        for fragment in (inner.DONT_FRAGMENT, 0):
            for numbers, pieces in (
                ([9] * COUNT, 1), ([5, 6, 7, 9, 10, 11, 3, 4], 3), (list(range(0xFFFC, 0xFFFC + COUNT)), 1),
            ):
                packets = [
                    Tcp(inner.content(at, SIZE), sequence=1000 + at * SIZE).on(
                        Ip(fragment=fragment, id=ident & 0xFFFF)
                    )
                    for at, ident in enumerate(numbers)
                ]
                end.same_ids = len(set(numbers)) == 1
                end.passes(packets, 1, pieces)


@ktap.case("segments out of order, twice, or with a gap are delivered as they came")
def out_of_order() -> None:
    """That is TCP's business."""
    with stage(GROUND) as end:
        for ip in (Ip(), SIX):
            packets = stream(10, SIZE, Tcp(), ip)
            for order in ([3, 4, 5, 0, 1, 2, 6, 7, 8, 9], list(range(9, -1, -1)),
                          [0, 1, 1, 2, 3, 3, 4, 5, 5, 5], [0, 1, 2, 5, 6, 9]):
                end.passes([packets[at] for at in order])


@ktap.case("segments with any flag but ACK and PSH are left alone")
def flags() -> None:
    """In the middle of a stream."""
    with stage(GROUND) as end:
        for flag in (FIN, SYN, RST, URG, ECE, CWR, ECE | CWR, 0):
            packets = stream(5, SIZE)
            odd = Tcp(inner.content(9, SIZE), sequence=1000 + 5 * SIZE, flags=(ACK | flag) if flag else 0)
            after = stream(5, SIZE, Tcp(sequence=1000 + 6 * SIZE), Ip(id=6))
            end.passes(packets + [odd.on(Ip(id=5))] + after)


@ktap.case("what differs in a header ends a packet")
def header_changes() -> None:
    """Acknowledgement, window, options, ports; TOS, ECN, TTL, DF, addresses, traffic class."""
    with stage(GROUND) as end:
        plain = Tcp(options=stamped(5))
        changed = [
            (replace(plain, ack=2), Ip()), (replace(plain, window=501), Ip()),
            (replace(plain, options=stamped(6)), Ip()), (replace(plain, options=b""), Ip()),
            (replace(plain, ports=(40001, 50000)), Ip()), (plain, Ip(tos=8)), (plain, Ip(tos=3)),
            (plain, Ip(ttl=63)), (plain, Ip(fragment=0)), (plain, Ip(source="10.9.0.3")),
            (plain, SIX), (plain, replace(SIX, tos=1)), (plain, replace(SIX, ttl=9)),
        ]
        packets = []
        for at, (tcp, ip) in enumerate(changed):
            both = ((plain, Ip() if "." in ip.source else SIX), (tcp, ip))
            for part, (one, where) in enumerate(both):
                first = 3 * (2 * at + part)
                packets += stream(3, SIZE, replace(one, sequence=1000 + first * SIZE),
                                  replace(where, id=first))
        for at in range(0, len(packets), 36):
            end.passes(packets[at : at + 36], None)


@ktap.case("a segment with a bad checksum is not put together, and is counted")
def bad_checksum() -> None:
    """Of the payload or of the header, by TCP; of the IPv4 header, by IP."""
    with stage(GROUND) as end:
        for ip, acknowledged in ((Ip(), 28), (SIX, 48)):
            for where in (acknowledged, -1):
                packets = stream(COUNT, SIZE, Tcp(), ip)
                bad = bytearray(packets.pop(4))
                bad[where] ^= 1
                refused(end, packets, bytes(bad), "Tcp", "InCsumErrors")
        packets = stream(COUNT, SIZE)
        bad = packets.pop(4)
        refused(end, packets, bad[:10] + b"\0\0" + bad[12:], "Ip", "InHdrErrors")


def refused(end: Stage, packets: list[bytes], bad: bytes, group: str, counter: str) -> None:
    """A bad one in the middle comes out as it is, and is counted."""
    before = snmp(GROUND.right, group, counter)
    end.burst(end.sealed(packets[:4] + [bad] + packets[4:]), 1)
    end.arrives(packets, astray=[bad])
    end.drops()
    ktap.equal(f"{group} {counter}", snmp(GROUND.right, group, counter) - before, 1)


@ktap.case("UDP, ICMP and TCP in turns come out in order")
def mixed() -> None:
    """IPv4 and IPv6."""
    with stage(GROUND) as end:
        packets = []
        for at, segment in enumerate(stream(6, SIZE)):
            other = (
                inner.udp(inner.content(at, SIZE + 12)), inner.echo(inner.content(at, SIZE + 12)),
                inner.udp(inner.content(at, SIZE - 8), SIX),
            )[at % 3]
            packets += [segment, other]
        end.passes(packets)
        end.passes(stream(4, SIZE) + datagrams(4, SIZE + 12) + stream(4, SIZE - 20, Tcp(), SIX))


@ktap.case("UDP datagrams reach their socket one by one, bad checksums do not")
def datagrams_delivered() -> None:
    """Whatever GRO thinks of them."""
    with stage(GROUND) as end:
        with GROUND.right.inside():
            target = udp_socket("10.9.0.2", 50000)
        packets = datagrams(COUNT)
        bad = packets[5][:-1] + bytes([packets[5][-1] ^ 1])
        before = snmp(GROUND.right, "Udp", "InCsumErrors")
        end.passes(packets[:5] + [bad] + packets[6:])
        for at in (0, 1, 2, 3, 4, 6, 7):
            ktap.equal("payload", target.recv(65535), packets[at][28:])
        ktap.equal("errors", snmp(GROUND.right, "Udp", "InCsumErrors") - before, 1)
        target.close()


@ktap.case("IPv4 options and fragments, IPv6 extension headers are left alone")
def odd_headers() -> None:
    """TCP behind options; fragments of one datagram; hop-by-hop, destination and fragment headers."""
    with stage(GROUND) as end:
        end.passes(stream(COUNT, SIZE, Tcp(), Ip(options=b"\1\1\1\0")))
        for kind in (0, 60):
            header = bytes([inner.TCP, 0, 1, 4, 0, 0, 0, 0])
            end.passes(stream(COUNT, SIZE, Tcp(), replace(SIX, options=header, extension=kind)))
        whole = inner.udp(inner.content(1, 400))
        parts = []
        for at in range(0, 408, 48):
            more = inner.MORE_FRAGMENTS if at + 48 < 408 else 0
            parts.append(Ip(fragment=more | at // 8, id=77).packet(inner.UDP, whole[20:][at : at + 48]))
        with GROUND.right.inside():
            target = udp_socket("10.9.0.2", 50000)
        end.passes(parts)
        ktap.equal("payload", target.recv(65535), whole[28:])
        target.close()
        whole = inner.udp(inner.content(2, 400), SIX)
        parts = []
        for at in range(0, 408, 48):
            more = 1 if at + 48 < 408 else 0
            header = struct.pack(">BBHI", inner.UDP, 0, at | more, 99)
            parts.append(replace(SIX, options=header, extension=44).packet(inner.UDP, whole[40:][at : at + 48]))
        with GROUND.right.inside():
            target = udp_socket("fd09::2", 50000)
        end.passes(parts)
        ktap.equal("payload", target.recv(65535), whole[48:])
        target.close()


@ktap.case("lengths that are not those of the packet")
def wrong_lengths() -> None:
    """Longer and shorter ones come out as they are, too short a packet does not."""
    with stage(GROUND) as end:
        packets = stream(COUNT, SIZE)
        for length in (20, 30, 89, 91, 65_535):
            odd = bytearray(packets[3])
            struct.pack_into(">H", odd, 2, length)
            end.burst(end.sealed(packets[:3] + [bytes(odd)] + packets[4:]), 1)
            end.arrives(packets[:3] + packets[4:], astray=[bytes(odd)])
        end.passes(packets[:3] + [packets[3] + bytes(5)], None)
        end.passes([one[:40] for one in packets[:3]])


@ktap.case("segments without data, keepalives and rubbish between those with data")
def nothing_inside() -> None:
    """Keepalives are signs of life, no packets; what is no IP packet is counted."""
    with stage(GROUND) as end:
        end.passes([Tcp(sequence=at).on(Ip(id=at)) for at in range(COUNT)])
        segments = stream(COUNT, SIZE)
        for odd, drops in (
            (KEEPALIVE, {}),
            (b"\x50" * 60, {"protocol": 1}),
            (b"\x45", {"protocol": 1}),
            (b"\x45" + bytes(10), {"protocol": 1}),
            (b"\x60" + bytes(20), {"protocol": 1}),
        ):
            records = end.sealed(segments[:4] + [odd] + segments[4:])
            # A shorter one is the last of its piece.
            end.burst(records, None)
            end.arrives(segments)
            end.drops(**drops)
        end.burst([end.sealer.seal(b"") for _ in range(4)] + end.sealed(segments), None)
        end.arrives(segments)
        end.drops(protocol=4)


@ktap.case("a stream of 60 records is one packet")
def long_stream() -> None:
    """And 1000 bytes each of 30, which is about what a packet may have."""
    with stage(GROUND) as end:
        end.passes(stream(60, 20), 1, 1)
        short(end)


def short(end: Stage) -> None:
    """Larger ones, which take longer to seal."""
    for ip in (Ip(), SIX):
        end.passes(stream(30, 1000, Tcp(), ip), 1, 1)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
