# SPDX-License-Identifier: GPL-2.0
"""What is measured: the scenarios by name, and the drivers to measure them with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from paths import lab
from plan import MIB, Scenario

# The main figures: one TCP flow from a client to a server. Records cross the veth
# one by one, or the burst crosses it uncut as a NIC with UDP segmentation takes it.
AES = Scenario("aes", "ovpn")
AES_SEGMENTED = Scenario("aes-seg", "ovpn", segmentation=True)
CHACHA = Scenario("chacha", "ovpn", cipher="CHACHA20-POLY1305")

QUICK = [AES, AES_SEGMENTED, CHACHA]
GUARD = [AES]

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
    if not Path(driver).is_file():
        raise lab.Error(f"there is no module at {driver}; say 'ours', 'c' or the path of an ovpn.ko")
    return str(Path(driver).resolve())


def longer(scenario: Scenario, mebibytes: int) -> Scenario:
    """The same with more payload."""
    return replace(scenario, amount=mebibytes * MIB)
