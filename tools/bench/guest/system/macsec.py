# SPDX-License-Identifier: GPL-2.0
"""MACsec with AES-128-GCM directly on the veth."""

from __future__ import annotations

from ground import INNER, Ground
from namespace import run

KEYS = ("11" * 16, "22" * 16)
ADDRESSES = ("02:00:00:00:00:01", "02:00:00:00:00:02")


class Macsec:
    """tun0 on va, tun1 on vb."""

    def __init__(self, ground: Ground) -> None:
        run("modprobe", "macsec")
        self.target = INNER[1]
        for space, device, end in ground.ends("va", "vb"):
            name = f"tun{end}"
            there = ("port", "1", "address", ADDRESSES[1 - end])
            space.ip("link", "set", device, "address", ADDRESSES[end])
            space.ip("link", "add", "link", device, name, "type", "macsec", "port", "1", "encrypt", "on")
            space.ip("macsec", "add", name, "tx", "sa", "0", "pn", "1", "on", "key", f"0{end}", KEYS[end])
            space.ip("macsec", "add", name, "rx", *there)
            key = ("key", f"0{1 - end}", KEYS[1 - end])
            space.ip("macsec", "add", name, "rx", *there, "sa", "0", "pn", "1", "on", *key)
            space.ip("link", "set", name, "mtu", str(ground.scenario.mtu), "up")
            space.ip("address", "add", f"{INNER[end]}/{INNER[2]}", "dev", name)

    def close(self) -> None:
        """The links go with their namespaces."""
