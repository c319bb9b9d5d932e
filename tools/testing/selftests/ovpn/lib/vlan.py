# SPDX-License-Identifier: GPL-2.0
"""A VLAN between the left and the right namespace."""

from __future__ import annotations

from ground import Ground
from pair import switch

ENDS = {4: ("192.0.3.1", "192.0.3.2"), 6: ("2001:db8:3::1", "2001:db8:3::2")}


class Vlan:
    """Devices va.5 and vb.5; accelerated, the tag is beside a packet and not in it."""

    def __init__(self, ground: Ground, accelerated: bool) -> None:
        self._sides = ((ground.left, "va"), (ground.right, "vb"))
        for number, (space, below) in enumerate(self._sides):
            switch(space, below, "tx-vlan-hw-insert", accelerated)
            name = f"{below}.5"
            space.ip("link", "add", "link", below, "name", name, "type", "vlan", "id", "5")
            space.ip("address", "add", f"{ENDS[4][number]}/24", "dev", name)
            space.ip("address", "add", f"{ENDS[6][number]}/64", "dev", name, "nodad")
            space.ip("link", "set", name, "up")

    def close(self) -> None:
        """Takes it away."""
        for space, below in self._sides:
            space.ip("link", "delete", f"{below}.5")
            switch(space, below, "tx-vlan-hw-insert", True)
