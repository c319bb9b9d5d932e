# SPDX-License-Identifier: GPL-2.0
"""Two hosts in one guest: the namespaces a (sends) and b (receives), a veth between them."""

from __future__ import annotations

from namespace import Namespace, run
from plan import Scenario

OUTER = {4: ("192.0.2.1", "192.0.2.2", 24), 6: ("2001:db8::1", "2001:db8::2", 64)}
INNER = ("10.9.0.1", "10.9.0.2", 24)


class Ground:
    """Both namespaces; the veth's ends are va and vb, the tunnel's are tun0 and tun1."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.a = Namespace("a")
        self.b = Namespace("b")
        run("ip", "link", "add", "va", "netns", "a", "type", "veth", "peer", "vb", "netns", "b")
        for space, name, end in self.ends("va", "vb"):
            self._features(space, name)
            for first, second, prefix in OUTER.values():
                address = (first, second)[end]
                extra = ("nodad",) if ":" in address else ()
                space.ip("address", "add", f"{address}/{prefix}", "dev", name, *extra)
            space.run("sysctl", "-qw", f"net.ipv6.conf.{name}.router_solicitations=0")
            space.ip("link", "set", name, "up")

    def ends(self, first: str, second: str) -> tuple[tuple[Namespace, str, int], ...]:
        """Both namespaces with the name of something in each."""
        return ((self.a, first, 0), (self.b, second, 1))

    def outer(self) -> tuple[str, str]:
        """The veth's addresses of the scenario's family."""
        first, second, _ = OUTER[self.scenario.family]
        return first, second

    def _features(self, space: Namespace, name: str) -> None:
        """veth merges received packets only if the sending end does not keep TCP bursts whole."""
        wanted = {
            "tso": self.scenario.tso,
            "gro": True,
            "tx-udp-segmentation": self.scenario.segmentation,
        }
        words = [word for key, on in wanted.items() for word in (key, "on" if on else "off")]
        space.run("ethtool", "-K", name, *words)

    def close(self) -> None:
        """Takes everything down; what lived in the namespaces goes with them."""
        self.a.delete()
        self.b.delete()
