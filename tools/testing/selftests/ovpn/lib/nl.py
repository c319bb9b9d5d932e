# SPDX-License-Identifier: GPL-2.0
"""Netlink messages and sockets: just enough for generic and route netlink."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

NETLINK_ROUTE = 0
NETLINK_GENERIC = 16

NLM_F_REQUEST = 0x001
NLM_F_ACK = 0x004
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400
NLM_F_DUMP = 0x300
NLM_F_ACK_TLVS = 0x200
NLM_F_CAPPED = 0x100

NLMSG_ERROR = 2
NLMSG_DONE = 3

NLA_F_NESTED = 0x8000
NLA_TYPE_MASK = 0x3FFF

SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
SO_RCVBUFFORCE = 33

_HEADER = struct.Struct("=IHHII")
_ATTR = struct.Struct("=HH")

NETLINK_ERR_MSG = 1
NETLINK_ERR_OFFSET = 2
NETLINK_ERR_MISS_TYPE = 5
NETLINK_ERR_MISS_NEST = 6


class NetlinkError(OSError):
    """A refused request: the error number and what the kernel said about it."""

    def __init__(self, number: int, told: dict[int, bytes]) -> None:
        self.said = told.get(NETLINK_ERR_MSG, b"").rstrip(b"\0").decode()
        # The attribute that is missing, and where its nest starts; where a bad one starts.
        self.missing = _number(told, NETLINK_ERR_MISS_TYPE)
        self.missing_in = _number(told, NETLINK_ERR_MISS_NEST)
        self.offset = _number(told, NETLINK_ERR_OFFSET)
        super().__init__(number, f"{os.strerror(number)}{': ' + self.said if self.said else ''}")


@dataclass(frozen=True)
class Message:
    """One netlink message as it came."""

    kind: int
    flags: int
    sequence: int
    payload: bytes


def align(length: int) -> int:
    """Netlink pads everything to four bytes."""
    return (length + 3) & ~3


def attr(kind: int, payload: bytes) -> bytes:
    """One attribute, padded."""
    head = _ATTR.pack(_ATTR.size + len(payload), kind)
    return (head + payload).ljust(align(_ATTR.size + len(payload)), b"\0")


def nest(kind: int, *inner: bytes) -> bytes:
    """Attributes inside an attribute."""
    return attr(kind | NLA_F_NESTED, b"".join(inner))


def u8(kind: int, value: int) -> bytes:
    """An attribute of one byte."""
    return attr(kind, struct.pack("=B", value))


def be16(kind: int, value: int) -> bytes:
    """An attribute of two bytes in network order."""
    return attr(kind, struct.pack(">H", value))


def u32(kind: int, value: int) -> bytes:
    """An attribute of four bytes."""
    return attr(kind, struct.pack("=I", value))


def text(kind: int, value: str) -> bytes:
    """A terminated string."""
    return attr(kind, value.encode() + b"\0")


def parse(data: bytes) -> dict[int, bytes]:
    """The attributes of a message or nest by their number."""
    found: dict[int, bytes] = {}
    while len(data) >= _ATTR.size:
        length, kind = _ATTR.unpack_from(data)
        if length < _ATTR.size or length > len(data):
            raise ValueError(f"attribute of {length} bytes in {len(data)}")
        found[kind & NLA_TYPE_MASK] = data[_ATTR.size : length]
        data = data[align(length) :]
    return found


def number(payload: bytes) -> int:
    """An unsigned value of whatever width the kernel chose, host order."""
    return int.from_bytes(payload, "little")


def _number(attrs: dict[int, bytes], kind: int) -> int | None:
    return number(attrs[kind]) if kind in attrs else None


class NetlinkSocket:
    """A netlink socket in the network namespace of its creation."""

    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self._socket.settimeout(10)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        """Gives the socket back."""
        self._socket.close()

    def join(self, group: int) -> None:
        """Receives what is multicast to the group."""
        self._socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)

    def make_room(self, size: int) -> None:
        """Lets so many bytes wait to be read."""
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, size)

    def request(self, kind: int, flags: int, payload: bytes) -> list[Message]:
        """Sends one request and returns the answers; a refusal is raised."""
        self._sequence += 1
        flags |= NLM_F_REQUEST | NLM_F_ACK
        size = _HEADER.size + len(payload)
        self._socket.send(_HEADER.pack(size, kind, flags, self._sequence, 0) + payload)
        answers: list[Message] = []
        while True:
            for message in self.receive():
                if message.sequence != self._sequence:
                    continue
                if message.kind == NLMSG_ERROR:
                    _raise_unless_ack(message)
                    return answers
                if message.kind == NLMSG_DONE:
                    _raise_unless_done(message)
                    return answers
                answers.append(message)

    def receive(self, timeout: float | None = None) -> list[Message]:
        """What one read gives; TimeoutError when nothing comes."""
        if timeout is not None:
            self._socket.settimeout(timeout)
        return list(_split(self._socket.recv(1 << 18)))


def _split(data: bytes) -> Iterator[Message]:
    while len(data) >= _HEADER.size:
        size, kind, flags, sequence, _ = _HEADER.unpack_from(data)
        yield Message(kind, flags, sequence, data[_HEADER.size : size])
        data = data[align(size) :]


def _raise_unless_done(message: Message) -> None:
    if len(message.payload) >= 4:
        (code,) = struct.unpack_from("=i", message.payload)
        if code < 0:
            told = parse(message.payload[4:]) if message.flags & NLM_F_ACK_TLVS else {}
            raise NetlinkError(-code, told)


def _raise_unless_ack(message: Message) -> None:
    code, size = struct.unpack_from("=iI", message.payload)
    if code == 0:
        return
    told: dict[int, bytes] = {}
    if message.flags & NLM_F_ACK_TLVS:
        echoed = _HEADER.size if message.flags & NLM_F_CAPPED else align(size)
        told = parse(message.payload[4 + echoed :])
    raise NetlinkError(-code, told)
