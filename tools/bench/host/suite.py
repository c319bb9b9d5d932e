# SPDX-License-Identifier: GPL-2.0
"""What is measured: the scenarios by name, and the drivers to measure them with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from paths import lab
from plan import MIB, Scenario

SEEDS = (1, 2, 3)

# The main figures: one TCP flow from a client to a server. Records cross the veth
# one by one, or the burst crosses it uncut as a NIC with UDP segmentation takes it.
AES = Scenario("aes", "ovpn")
AES_SEGMENTED = replace(AES, label="aes-seg", segmentation=True)
CHACHA = replace(AES, label="chacha", cipher="CHACHA20-POLY1305")
CHACHA_SEGMENTED = replace(CHACHA, label="chacha-seg", segmentation=True)

QUICK = [AES, AES_SEGMENTED, CHACHA]
GUARD = [AES]

# Packets, not bytes.
UDP = replace(AES, kind="udp", amount=8000, warmup=2000)
UDP_SIZES = (36, 484, 1380)
# As a ping has them.
TURNS = replace(UDP, kind="turns", label="turns", size=64, amount=2000, warmup=500)


def _udp(base: Scenario, prefix: str) -> list[Scenario]:
    return [replace(base, label=f"{prefix}udp-{size}", size=size) for size in UDP_SIZES]


DRIVER = [
    *(AES, AES_SEGMENTED, CHACHA, CHACHA_SEGMENTED),
    replace(AES, label="flows-8", flows=8),
    replace(AES, label="flows-64", flows=64),
    *_udp(UDP, ""),
    TURNS,
    replace(AES, label="ipv6", family=6),
    replace(AES_SEGMENTED, label="ipv6-seg", family=6),
    replace(AES, label="tcp", transport="tcp"),
]

SYSTEMS = [
    # So cheap that only much of it says the same each time.
    Scenario("veth-tso", "veth", tso=True, warmup=64 * MIB, amount=256 * MIB),
    Scenario("veth-gro", "veth", warmup=16 * MIB, amount=64 * MIB),
    Scenario("macsec", "macsec"),
    Scenario("esp", "esp"),
    Scenario("wireguard", "wireguard"),
    # Dear enough that less of it says the same.
    Scenario("openvpn", "openvpn", warmup=8 * MIB, amount=8 * MIB),
    Scenario("openvpn-chacha", "openvpn", cipher="CHACHA20-POLY1305", warmup=8 * MIB, amount=8 * MIB),
    *_udp(replace(UDP, system="veth"), "veth-"),
    replace(TURNS, system="veth", label="veth-turns"),
]

PEERS = (1, 1000, 10000, 100000)
SCALE_MEMORY_MIB = 4096


def many(peers: int) -> Scenario:
    """A server with so many peers."""
    return replace(AES, label=f"peers-{peers}", kind="scale", peers=peers)


SCALE = [many(peers) for peers in PEERS]

# With the ciphers of this machine nothing can do better, in instructions per byte:
# the cipher on contiguous records, what sending and receiving TCP cost without a
# tunnel, and one UDP burst.
LIMITS = {"tx": 2.75, "rx": 3.64, "total": 6.39}


def module_of(driver: str) -> str:
    """The module behind a name on the command line: 'ours', 'c' or a path."""
    if driver == "ours":
        return str(lab.path("lab") / "build/ovpn/ovpn.ko")
    if driver == "c":
        return "intree"
    if driver == "none":
        return "none"
    if not Path(driver).is_file():
        raise lab.Error(f"there is no module at {driver}; say 'ours', 'c' or the path of an ovpn.ko")
    return str(Path(driver).resolve())
