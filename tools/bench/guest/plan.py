# SPDX-License-Identifier: GPL-2.0
"""What the host asks of a boot, and what the boot answers; both sides read this file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

MIB = 1 << 20

# What a scenario of the kind "scale" measures, one after the other.
STEPS = ("create", "rx", "tx", "dump", "delete")
# Packets for each direction in it.
STEP_PACKETS = 6000


@dataclass(frozen=True)
class Scenario:
    """One thing to measure. The label names its counts, so it holds no blanks."""

    label: str
    system: str
    cipher: str = "AES-128-GCM"
    # Which of two modules to load: "ours" or "c"; as the image says if empty.
    driver: str = ""
    # Of the outer packets.
    family: int = 4
    transport: str = "udp"
    # Whether the veth takes uncut UDP bursts, as a NIC with UDP segmentation does.
    segmentation: bool = False
    # Of the bare veth: whether TCP bursts cross uncut.
    tso: bool = False
    kind: str = "tcp"
    # How often the traffic runs, for the check by the clock.
    repeat: int = 1
    flows: int = 1
    warmup: int = 8 * MIB
    amount: int = 16 * MIB
    size: int = 0
    # Whether b sends.
    reverse: bool = False
    # Whether b is a server (mp) or a client like a (p2p).
    mode: str = "mp"
    # Of a server with many, see scale.py.
    peers: int = 1
    # Of the tunnel.
    mtu: int = 1408


@dataclass
class Outcome:
    """How a scenario went in the guest: what a person needs to trust the counts."""

    label: str
    error: str = ""
    unsupported: str = ""
    seconds: float = 0.0
    retransmits: int = 0
    mss: int = 0
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Plan:
    """The scenarios of one boot."""

    scenarios: list[Scenario]
    symbols: str = "modules"
    # Runs instead of the scenarios.
    script: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def read(text: str) -> Plan:
    found = json.loads(text)
    return Plan([Scenario(**one) for one in found["scenarios"]], found["symbols"])
