# SPDX-License-Identifier: GPL-2.0
"""Two namespaces joined by a veth pair, with addresses for both transports."""

from __future__ import annotations

import family as ov
import nl
from endpoint import Endpoint, udp_socket, vpn
from namespace import Namespace
from wiretap import Tunnel

LEFT4, RIGHT4 = "192.0.2.1", "192.0.2.2"
LEFT6, RIGHT6 = "2001:db8::1", "2001:db8::2"
# The left end's other address, for one that moves.
ELSEWHERE4 = "192.0.2.11"


class Ground:
    """The left and the right namespace, which can reach each other."""

    def __init__(self) -> None:
        self.left = Namespace("ovpn-left")
        self.right = Namespace("ovpn-right")
        self.left.ip(
            "link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", self.right.name
        )
        for space, name, addresses in (
            (self.left, "va", (f"{LEFT4}/24", f"{ELSEWHERE4}/24", f"{LEFT6}/64")),
            (self.right, "vb", (f"{RIGHT4}/24", f"{RIGHT6}/64")),
        ):
            for address in addresses:
                extra = ("nodad",) if ":" in address else ()
                space.ip("address", "add", address, "dev", name, *extra)
            space.ip("link", "set", name, "up")
        # Else what a test sends first may be lost before it comes to the other end.
        for address in (RIGHT4, RIGHT6):
            self.left.meets(address)

    def close(self) -> None:
        """Deletes both."""
        self.left.delete()
        self.right.delete()

    def tunnel(self, mode: str = "p2p", cipher: str = "AES-256-GCM") -> Tunnel:
        """Left is peer 1 of the right end, right is peer 2 of the left end."""
        with self.left.inside():
            tap = udp_socket(LEFT4)
        left = Endpoint(self.left, "tun-left", "p2p", LEFT4)
        right = Endpoint(self.right, "tun-right", mode, RIGHT4)
        left.peer_new(2, tap.getsockname(), nl.u32(ov.Peer.TX_ID, 1))
        extra = [vpn("10.9.0.1")] if mode == "mp" else []
        right.peer_new(1, tap.getsockname(), nl.u32(ov.Peer.TX_ID, 2), *extra)
        left.key_new(2, cipher, (1, 2))
        right.key_new(1, cipher, (2, 1))
        left.up("10.9.0.1/24")
        right.up("10.9.0.2/24")
        return Tunnel(left, right, tap)
