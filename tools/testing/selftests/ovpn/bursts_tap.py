#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Bursts that a guest made up: forwarded from a tap into the tunnel, good ones and bad ones."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import flow
import ktap
from ground import Ground
from inner import checksum
from namespace import load_module, run
from pace import patience
from pair import Pair, Setting, pair, switch

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
OFFLOADS = 0x1 | 0x2 | 0x4 | 0x20 | 0x40  # checksum, TSO4, TSO6, USO4, USO6
VNET_HDR = struct.Struct("=BBHHHH")
NEEDS_CSUM = 1
TCPV4, TCPV6, UDP_L4, ECN = 1, 4, 5, 0x80
ETHERNET, IPV4, TCP, UDP = 14, 20, 20, 8
GUEST, TARGET = "10.8.0.9", "10.9.0.2"
# Good TCP comes from a port of its own, to be told from the other kind.
GOOD_PORT = 4002

load_module()
run("modprobe", "tun")
GROUND = Ground()


class Tap:
    """A guest's network device, in the left namespace, which forwards."""

    def __init__(self) -> None:
        with GROUND.left.inside():
            self._file = os.open("/dev/net/tun", os.O_RDWR)
            flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR
            fcntl.ioctl(self._file, TUNSETIFF, struct.pack("16sH22x", b"tap0", flags))
            fcntl.ioctl(self._file, TUNSETOFFLOAD, OFFLOADS)
        left = GROUND.left
        left.ip("link", "set", "tap0", "up")
        left.ip("address", "add", "10.8.0.1/24", "dev", "tap0")
        left.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.mac = bytes.fromhex(left.run("cat", "/sys/class/net/tap0/address").strip().replace(":", ""))

    def write(self, packet: bytes, gso: int, size: int, **more: int) -> None:
        """A packet from the guest; the kernel may refuse what makes no sense."""
        start = ETHERNET + IPV4
        header = VNET_HDR.pack(
            more.get("flags", NEEDS_CSUM), gso, more.get("head", start + TCP), size,
            more.get("start", start), more.get("offset", 16),
        )  # fmt: skip
        frame = self.mac + b"\x02\0\0\0\0\x09" + struct.pack(">H", more.get("type", 0x0800)) + packet
        try:
            os.write(self._file, header + frame)
        except OSError:
            ktap.note(f"refused: kind {gso}, size {size}, {more}")

    def close(self) -> None:
        """Takes it away."""
        os.close(self._file)


def ones(data: bytes) -> int:
    """The sum of the Internet checksum."""
    return checksum(data) ^ 0xFFFF


def ip(protocol: int, payload: bytes) -> bytes:
    """An IPv4 packet from the guest."""
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, IPV4 + len(payload), 1, 0x4000, 64, protocol, 0,
        socket.inet_aton(GUEST), socket.inet_aton(TARGET),
    )  # fmt: skip
    return header[:10] + struct.pack(">H", ones(header) ^ 0xFFFF) + header[12:] + payload


def pseudo(protocol: int, length: int) -> int:
    """What a partial checksum starts with."""
    addresses = socket.inet_aton(GUEST) + socket.inet_aton(TARGET)
    return ones(addresses + struct.pack(">HH", protocol, length))


def udp(port: int, payload: bytes) -> bytes:
    """A UDP burst with a partial checksum."""
    length = UDP + len(payload)
    return ip(17, struct.pack(">HHHH", 4000, port, length, pseudo(17, length)) + payload)


def tcp(payload: bytes, doff: int = 5, port: int = 4000) -> bytes:
    """A TCP burst with a partial checksum, of a connection that does not exist."""
    length = TCP + len(payload)
    header = struct.pack(
        ">HHIIBBHHH", port, 4001, 1000, 1, doff << 4, 0x98, 1024, pseudo(6, length), 0
    )
    return ip(6, header + payload)


def guest_udp(made: Pair, tap: Tap) -> None:
    """A good burst of UDP arrives, every checksum right."""
    with made.right.space.inside():
        target = flow.udp_socket(TARGET)
    data = os.urandom(13_500)
    tap.write(udp(target.getsockname()[1], data), UDP_L4, 1300, offset=6, head=ETHERNET + IPV4 + UDP)
    got = [target.recv(65535) for _ in range(-(-len(data) // 1300))]
    if got != [data[i : i + 1300] for i in range(0, len(data), 1300)]:
        ktap.fail("the datagrams are not what was sent")
    target.close()


def guest_tcp(made: Pair, tap: Tap) -> None:
    """A good burst of TCP arrives as segments with the right numbers, flags and checksums."""
    with made.right.space.inside():
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 6)
    raw.settimeout(patience(10))
    # It gets all TCP that comes here.
    raw.setsockopt(socket.SOL_SOCKET, flow.SO_RCVBUFFORCE, 8 * flow.MIB)
    data = os.urandom(13_500)
    tap.write(tcp(data, port=GOOD_PORT), TCPV4 | ECN, 1300)
    received = 0
    while received < len(data):
        packet = raw.recv(65535)
        segment = packet[IPV4:]
        if packet[12:16] != socket.inet_aton(GUEST) or segment[:2] != struct.pack(">H", GOOD_PORT):
            continue
        ktap.equal("sequence number", struct.unpack_from(">I", segment, 4)[0], 1000 + received)
        piece = data[received : received + 1300]
        if segment[TCP:] != piece:
            ktap.fail(f"the payload of {len(segment) - TCP} bytes at {received} is not what was sent")
        last = received + len(piece) == len(data)
        ktap.equal("flags", segment[13], 0x10 | 0x80 * (received == 0) | 0x08 * last)
        padded = segment + b"\0" * (len(segment) % 2)
        addresses = socket.inet_aton(GUEST) + socket.inet_aton(TARGET)
        check = ones(addresses + struct.pack(">HH", 6, len(segment)) + padded)
        ktap.equal("checksum", check, 0xFFFF)
        received += len(piece)
    raw.close()


@ktap.case("bursts of a guest's TCP and UDP arrive, cut as they should be")
def good() -> None:
    """Over IPv4 and IPv6, cut below or not."""
    for setting in (Setting(), Setting(over=6), Setting(segmentation=False)):
        with pair(GROUND, setting) as made:
            tap = route(made)
            guest_udp(made, tap)
            guest_tcp(made, tap)
            tap.close()


def route(made: Pair) -> Tap:
    """A tap whose packets go through the tunnel."""
    tap = Tap()
    # Else the segments would be put together again.
    switch(GROUND.right, made.right.name, "gro", False)
    GROUND.right.ip("route", "replace", "10.8.0.0/24", "dev", made.right.name)
    return tap


@ktap.case("bursts that make no sense do no harm")
def bad() -> None:
    """Each kind of lie; after all of them good ones still arrive."""
    data = bytes(range(256)) * 40
    start = ETHERNET + IPV4
    with pair(GROUND) as made:
        tap = route(made)
        for size in (0, 1, 7, 1300, 60_000, 65_535):
            tap.write(tcp(data), TCPV4, size)
            tap.write(udp(9, data), UDP_L4, size, offset=6)
        for gso in (TCPV6, UDP_L4, 2, 3, 6, 0x7F, ECN):
            tap.write(tcp(data), gso, 1300)
            tap.write(udp(9, data), gso, 1300, offset=6)
        for doff in (0, 4, 15):
            tap.write(tcp(data, doff), TCPV4, 1300)
            tap.write(tcp(b"short"[: doff + 1], doff), TCPV4, 1300)
        for where in (0, ETHERNET, start - 1, start + 1, 5000, 65_535):
            tap.write(tcp(data), TCPV4, 1300, start=where)
            tap.write(tcp(data), TCPV4, 1300, offset=where)
        for head in (0, 1, start, 5000, 65_535):
            tap.write(tcp(data), TCPV4, 1300, head=head)
        tap.write(tcp(data), TCPV4, 1300, flags=0)
        tap.write(tcp(data), TCPV4, 1300, type=0x86DD)
        tap.write(tcp(data)[:25], TCPV4, 1300)
        tap.write(ip(17, b"\0" * 4), UDP_L4, 1300, offset=6)
        # Thousands of tiny segments fill every queue on their way.
        made.settle()
        guest_udp(made, tap)
        guest_tcp(made, tap)
        flow.tcp(made)
        tap.close()


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
