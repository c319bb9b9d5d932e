# SPDX-License-Identifier: GPL-2.0
"""WireGuard, set up over its generic netlink family."""

from __future__ import annotations

import socket
import struct

import nl
from ground import INNER, Ground
from namespace import run

GENL_CTRL = 0x10
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID = 1
CTRL_ATTR_FAMILY_NAME = 2

CMD_SET_DEVICE = 1
DEVICE_IFNAME, DEVICE_PRIVATE_KEY, DEVICE_LISTEN_PORT, DEVICE_PEERS = 2, 3, 6, 8
PEER_PUBLIC_KEY, PEER_ENDPOINT, PEER_ALLOWED_IPS = 1, 4, 9
ALLOWED_FAMILY, ALLOWED_ADDRESS, ALLOWED_PREFIX = 1, 2, 3

PORT = 51820
# Private and public, for a and b. They guard nothing.
KEYS = (
    ("10" + 30 * "11" + "51", "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13"),
    ("20" + 30 * "22" + "62", "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"),
)


class WireGuard:
    """tun0 in a, tun1 in b."""

    def __init__(self, ground: Ground) -> None:
        run("modprobe", "wireguard")
        self.target = INNER[1]
        outer = ground.outer()
        for space, name, end in ground.ends("tun0", "tun1"):
            space.ip("link", "add", name, "mtu", str(ground.scenario.mtu), "type", "wireguard")
            with space.inside():
                _configure(name, end, outer[1 - end])
            space.ip("address", "add", f"{INNER[end]}/{INNER[2]}", "dev", name)
            space.ip("link", "set", name, "up")

    def close(self) -> None:
        """The links go with their namespaces."""


def _configure(name: str, end: int, remote: str) -> None:
    allowed = nl.nest(
        0,
        nl.attr(ALLOWED_FAMILY, struct.pack("=H", socket.AF_INET)),
        nl.attr(ALLOWED_ADDRESS, socket.inet_aton("0.0.0.0")),
        nl.u8(ALLOWED_PREFIX, 0),
    )
    peer = nl.nest(
        0,
        nl.attr(PEER_PUBLIC_KEY, bytes.fromhex(KEYS[1 - end][1])),
        nl.attr(PEER_ENDPOINT, _sockaddr(remote)),
        nl.nest(PEER_ALLOWED_IPS, allowed),
    )
    genl = nl.NetlinkSocket(nl.NETLINK_GENERIC)
    head = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
    answer = genl.request(GENL_CTRL, 0, head + nl.text(CTRL_ATTR_FAMILY_NAME, "wireguard"))
    family = nl.number(nl.parse(answer[0].payload[4:])[CTRL_ATTR_FAMILY_ID])
    genl.request(
        family,
        0,
        struct.pack("=BBH", CMD_SET_DEVICE, 1, 0)
        + nl.text(DEVICE_IFNAME, name)
        + nl.attr(DEVICE_PRIVATE_KEY, bytes.fromhex(KEYS[end][0]))
        + nl.attr(DEVICE_LISTEN_PORT, struct.pack("=H", PORT))
        + nl.nest(DEVICE_PEERS, peer),
    )
    genl.close()


def _sockaddr(address: str) -> bytes:
    if ":" in address:
        binary = socket.inet_pton(socket.AF_INET6, address)
        return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI16sI", PORT, 0, binary, 0)
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", PORT, socket.inet_aton(address))
