# SPDX-License-Identifier: GPL-2.0
"""WireGuard tunnels by generic netlink: its own tool is not part of the guest."""

from __future__ import annotations

import os
import socket
import struct
from ipaddress import ip_address

import nl
from family import CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_CMD_GETFAMILY, GENL_CTRL
from namespace import Namespace

GET_DEVICE, SET_DEVICE = 0, 1
IFNAME, PRIVATE_KEY, PUBLIC_KEY, LISTEN_PORT, PEERS = 2, 3, 4, 6, 8
PEER_PUBLIC_KEY, PEER_ENDPOINT, PEER_ALLOWED = 1, 4, 9
ALLOWED_FAMILY, ALLOWED_ADDRESS, ALLOWED_BITS = 1, 2, 3


def _request(space: Namespace, command: int, *attrs: bytes, dump: bool = False) -> list[dict[int, bytes]]:
    with space.inside():
        route = nl.NetlinkSocket(nl.NETLINK_GENERIC)
    head = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
    answer = route.request(GENL_CTRL, 0, head + nl.text(CTRL_ATTR_FAMILY_NAME, "wireguard"))
    family = nl.number(nl.parse(answer[0].payload[4:])[CTRL_ATTR_FAMILY_ID])
    head = struct.pack("=BBH", command, 1, 0)
    answers = route.request(family, nl.NLM_F_DUMP if dump else 0, head + b"".join(attrs))
    route.close()
    return [nl.parse(one.payload[4:]) for one in answers]


class End:
    """A WireGuard device in a namespace, with a key of its own."""

    def __init__(self, space: Namespace, name: str, port: int) -> None:
        self.space, self.name, self.port = space, name, port
        space.ip("link", "add", name, "type", "wireguard")
        _request(space, SET_DEVICE, nl.text(IFNAME, name), nl.attr(PRIVATE_KEY, os.urandom(32)),
                 nl.attr(LISTEN_PORT, struct.pack("=H", port)))
        self.key = _request(space, GET_DEVICE, nl.text(IFNAME, name), dump=True)[0][PUBLIC_KEY]

    def meets(self, other: End, address: str) -> None:
        """The other one is its peer, at this IPv4 address, for everything."""
        endpoint = struct.pack("=H", socket.AF_INET) + struct.pack(">H", other.port)
        endpoint += ip_address(address).packed + bytes(8)
        allowed = [
            nl.nest(0, nl.attr(ALLOWED_FAMILY, struct.pack("=H", family)),
                    nl.attr(ALLOWED_ADDRESS, bytes(size)), nl.u8(ALLOWED_BITS, 0))
            for family, size in ((socket.AF_INET, 4), (socket.AF_INET6, 16))
        ]
        peer = nl.nest(0, nl.attr(PEER_PUBLIC_KEY, other.key), nl.attr(PEER_ENDPOINT, endpoint),
                       nl.nest(PEER_ALLOWED, *allowed))
        _request(self.space, SET_DEVICE, nl.text(IFNAME, self.name), nl.nest(PEERS, peer))
