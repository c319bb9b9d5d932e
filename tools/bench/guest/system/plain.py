# SPDX-License-Identifier: GPL-2.0
"""No tunnel: what TCP over the veth costs by itself."""

from __future__ import annotations

from ground import OUTER, Ground


class Plain:
    """The veth alone; with packets as small as a tunnel's, for comparison, unless they go uncut."""

    def __init__(self, ground: Ground) -> None:
        self.target = OUTER[ground.scenario.family][1]
        if not ground.scenario.tso:
            for space, name, _ in ground.ends("va", "vb"):
                space.ip("link", "set", name, "mtu", str(ground.scenario.mtu))

    def close(self) -> None:
        """Nothing of its own."""
