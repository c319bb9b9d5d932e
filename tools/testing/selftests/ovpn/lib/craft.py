# SPDX-License-Identifier: GPL-2.0
"""Packets with anything in them, to be sealed by hand."""

from __future__ import annotations

import socket
import struct

from inner import checksum

# What a keepalive says, as in the OpenVPN protocol.
PING = bytes.fromhex("2a187bf3641eb4cb07ed2d0a981fc748")


def ipv4(source: str, destination: str, payload: bytes, **changes: int) -> bytes:
    """A UDP packet over IPv4 without a UDP checksum; `changes` make its header wrong."""
    length = changes.get("total", 28 + len(payload))
    head = bytearray(
        struct.pack(
            ">BBHHHBBH4s4s",
            changes.get("version", 4) << 4 | changes.get("words", 5),
            0, length, 0, 0, 64, changes.get("protocol", 17), 0,
            socket.inet_aton(source), socket.inet_aton(destination),
        )
    )
    struct.pack_into(">H", head, 10, checksum(bytes(head)) ^ changes.get("spoil", 0))
    return bytes(head) + struct.pack(">HHHH", 9, 7777, 8 + len(payload), 0) + payload


def ipv6(source: str, destination: str, payload: bytes, version: int = 6) -> bytes:
    """An IPv6 packet with a protocol that nobody speaks."""
    places = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)
    return struct.pack(">IHBB", version << 28, len(payload), 59, 64) + places + payload
