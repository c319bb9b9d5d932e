# SPDX-License-Identifier: GPL-2.0
"""A third namespace behind the right one, which forwards."""

from __future__ import annotations

from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import Namespace

NEAR4, FAR4 = "198.51.100.1", "198.51.100.2"
NEAR6, FAR6 = "2001:db8:2::1", "2001:db8:2::2"
FAR = {4: FAR4, 6: FAR6}


class Relay:
    """left - right - far; the device that right sends to far from is named vc."""

    def __init__(self, ground: Ground) -> None:
        self.far = Namespace("ovpn-far")
        right = ground.right
        right.ip("link", "add", "vc", "type", "veth", "peer", "name", "vd", "netns", self.far.name)
        for space, link, addresses in (
            (right, "vc", (f"{NEAR4}/24", f"{NEAR6}/64")),
            (self.far, "vd", (f"{FAR4}/24", f"{FAR6}/64")),
        ):
            for address in addresses:
                extra = ("nodad",) if ":" in address else ()
                space.ip("address", "add", address, "dev", link, *extra)
            space.ip("link", "set", link, "up")
        right.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self._left = ground.left
        self.direct()
        self.far.ip("route", "add", "default", "via", NEAR4)
        self.far.ip("-6", "route", "add", "default", "via", NEAR6)
        # Of a burst to a neighbour that is not known yet some would be lost.
        for address in (LEFT4, LEFT6):
            self.far.meets(address)

    def direct(self) -> None:
        """What is for the far end goes there without a tunnel."""
        self._left.ip("route", "replace", f"{FAR4}/32", "via", RIGHT4)
        self._left.ip("route", "replace", f"{FAR6}/128", "via", RIGHT6)

    def tunnelled(self, link: str) -> None:
        """It goes through this link as long as that exists."""
        for address in (f"{FAR4}/32", f"{FAR6}/128"):
            self._left.ip("route", "replace", address, "dev", link)

    def close(self) -> None:
        """Takes it away."""
        self.far.delete()
