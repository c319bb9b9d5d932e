# SPDX-License-Identifier: GPL-2.0
"""A tunnel of whichever ovpn module is loaded, with static keys.

In a there is a client (P2P). In b there is one too, or a server (MP).
"""

from __future__ import annotations

import endpoint
import namespace
from ground import INNER, Ground
from system import Unsupported

PEER = 1


class Tunnel:
    """tun0 in a, tun1 in b."""

    def __init__(self, ground: Ground) -> None:
        scenario = ground.scenario
        if scenario.transport != "udp":
            raise Unsupported("TCP transport")
        namespace.load_module()
        self.target = INNER[1]
        outer = ground.outer()
        modes = ("p2p", scenario.mode)
        self._ends = [
            endpoint.Endpoint(space, name, modes[end], outer[end]) for space, name, end in ground.ends("tun0", "tun1")
        ]
        for end, here in enumerate(self._ends):
            here.up(f"{INNER[end]}/{INNER[2]}")
            here.space.ip("link", "set", here.name, "mtu", str(scenario.mtu))
        for end, here in enumerate(self._ends):
            there = self._ends[1 - end]
            known = (endpoint.vpn(INNER[0]),) if modes[end] == "mp" else ()
            here.peer_new(PEER, (outer[1 - end], there.port()), *known)
            here.key_new(PEER, scenario.cipher, (1, 2) if end == 0 else (2, 1))

    def close(self) -> None:
        """Links, sockets and netlink sockets."""
        for end in self._ends:
            end.close()
