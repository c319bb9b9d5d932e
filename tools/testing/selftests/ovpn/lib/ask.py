# SPDX-License-Identifier: GPL-2.0
"""Requests as they are sent by somebody careless, and what came of them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import family as ov
import nl
from endpoint import Endpoint, udp_socket
from namespace import Namespace

PORT = 11940
REMOTE = "192.0.2.2"


def ask(end: Endpoint, command: int, *attrs: bytes, dump: bool = False) -> dict[str, Any]:
    """What the driver answers to a message with these attributes."""
    with end.space.inside():
        asking = nl.NetlinkSocket(nl.NETLINK_GENERIC)
    flags = nl.NLM_F_DUMP if dump else 0
    try:
        head = struct.pack("=BBH", command, ov.FAMILY_VERSION, 0)
        answers = asking.request(end.family.id, flags, head + b"".join(attrs))
    except nl.NetlinkError as error:
        return {
            "errno": error.errno,
            "explained": error.said != "",
            "offset": error.offset,
            "missing": error.missing,
            "missing in": error.missing_in,
        }
    finally:
        asking.close()
    return {"errno": 0, "answers": [tree(answer.payload[4:]) for answer in answers]}


def tree(data: bytes) -> list[Any]:
    """Attributes in their order, nests opened; the interface's number is none of interest."""
    return [
        [kind, "any"] if kind == ov.Top.IFINDEX else [kind, tree_of(payload)]
        for kind, payload in nl.parse(data).items()
    ]


def tree_of(payload: bytes) -> list[list[Any]]:
    """What is in a nest, as text."""
    return [[kind, value.hex()] for kind, value in nl.parse(payload).items()]


def index(end: Endpoint) -> bytes:
    """The attribute that names the interface."""
    return nl.u32(ov.Top.IFINDEX, end.index)


def peer(*attrs: bytes) -> bytes:
    """The nest about a peer."""
    return nl.nest(ov.Top.PEER, *attrs)


def key(*attrs: bytes) -> bytes:
    """The nest about a key."""
    return nl.nest(ov.Top.KEYCONF, *attrs)


def remote(address: str, port: int | None = 1194) -> bytes:
    """Where a peer is."""
    at = b"" if port is None else nl.be16(ov.Peer.REMOTE_PORT, port)
    return ov.address_attr(address, ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6) + at


def local(address: str) -> bytes:
    """Where it is reached from."""
    return ov.address_attr(address, ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6)


class Fresh:
    """An end that is made anew after each request that was granted, so that no request
    depends on another one."""

    def __init__(self, space: Namespace, mode: str, prepare: Callable[[Endpoint], None]) -> None:
        self._space, self._mode, self._prepare = space, mode, prepare
        self._end: Endpoint | None = None

    def end(self) -> Endpoint:
        """The end as it was prepared."""
        if self._end is None:
            self._end = Endpoint(self._space, f"{self._mode}0", self._mode, "127.0.0.1")
            # The port is told in answers, which are compared.
            self._end.socket.close()
            with self._space.inside():
                self._end.socket = udp_socket("127.0.0.1", PORT)
            self._prepare(self._end)
        return self._end

    def used(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Takes note of an answer."""
        if answer["errno"] == 0:
            self.close()
        return answer

    def close(self) -> None:
        """Ends it."""
        if self._end is not None:
            self._end.close()
            self._end = None
