# SPDX-License-Identifier: GPL-2.0
"""IPsec: an ESP tunnel with AES-128-GCM between the veth's addresses."""

from __future__ import annotations

from ground import INNER, Ground
from namespace import Namespace, run

# 16 bytes of key and 4 of salt.
KEY = "0x" + "4f" * 20
SPI = ("0x100", "0x101")
# IP and TCP headers without options, which the MSS is counted without.
HEADERS = 40


class Esp:
    """States and policies for both directions; the inner addresses are on the loopback."""

    def __init__(self, ground: Ground) -> None:
        run("modprobe", "-a", "esp4", "esp4_offload", "xfrm_user")
        self.target = INNER[1]
        self._outer = ground.outer()
        for space, device, end in ground.ends("va", "vb"):
            space.ip("address", "add", f"{INNER[end]}/32", "dev", "lo")
            # The transform decides about the MTU by itself, so the MSS is what is set.
            space.ip("route", "add", INNER[1 - end], "via", self._outer[1 - end], "dev", device, "src", INNER[end],
                     "advmss", str(ground.scenario.mtu - HEADERS))
            self._states(space)
            self._policy(space, "out", end, 1 - end)
            self._policy(space, "in", 1 - end, end)

    def close(self) -> None:
        """All of it goes with the namespaces."""

    def _states(self, space: Namespace) -> None:
        for way in (0, 1):
            space.ip("xfrm", "state", "add", "src", self._outer[way], "dst", self._outer[1 - way], "proto", "esp",
                     "spi", SPI[way], "mode", "tunnel", "replay-window", "64", "aead", "rfc4106(gcm(aes))", KEY, "128")

    def _policy(self, space: Namespace, direction: str, source: int, target: int) -> None:
        space.ip("xfrm", "policy", "add", "src", INNER[source], "dst", INNER[target], "dir", direction,
                 "tmpl", "src", self._outer[source], "dst", self._outer[target], "proto", "esp", "mode", "tunnel")
