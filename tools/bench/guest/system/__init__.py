# SPDX-License-Identifier: GPL-2.0
"""The systems under test. Each one makes a way from a to b and says at which address b listens."""

from __future__ import annotations

import importlib
from typing import Protocol

from ground import Ground

MAKERS = {
    "veth": ("plain", "Plain"),
    "ovpn": ("ovpn", "Tunnel"),
    "wireguard": ("wireguard", "WireGuard"),
    "esp": ("esp", "Esp"),
    "macsec": ("macsec", "Macsec"),
    "openvpn": ("daemon", "Daemon"),
}


class Unsupported(Exception):
    """What the system under test cannot do; the text says what."""


class System(Protocol):
    """A way between the namespaces that is up."""

    target: str

    def close(self) -> None:
        """Takes down what does not vanish with the namespaces."""


def make(ground: Ground) -> System:
    """The scenario's system, ready for traffic."""
    module, name = MAKERS[ground.scenario.system]
    made: System = getattr(importlib.import_module(f"system.{module}"), name)(ground)
    return made
