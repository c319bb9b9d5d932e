# SPDX-License-Identifier: GPL-2.0
"""The systems under test. Each one makes a way from a to b and says at which address b listens."""

from __future__ import annotations

from typing import Callable, Protocol

from ground import Ground


class Unsupported(Exception):
    """What the system under test cannot do; the text says what."""


class System(Protocol):
    """A way between the namespaces that is up."""

    target: str

    def close(self) -> None:
        """Takes down what does not vanish with the namespaces."""


def make(ground: Ground) -> System:
    """The scenario's system, ready for traffic."""
    from system import ovpn, plain

    makers: dict[str, Callable[[Ground], System]] = {
        "veth": plain.Plain,
        "ovpn": ovpn.Tunnel,
    }
    return makers[ground.scenario.system](ground)
