#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The family is what the kernel's specification says, and so are the tests' own constants."""

from __future__ import annotations

import os
import sys
from enum import IntEnum

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import policy
from namespace import load_module
from spec import Spec

load_module()
SPEC = Spec()


@ktap.case("commands, their permissions and groups are those of the specification")
def commands() -> None:
    """As the kernel tells everybody who asks."""
    told = policy.told("ovpn")
    wanted = SPEC.commands()
    ktap.equal("version", told.version, ov.FAMILY_VERSION)
    ktap.equal("header", told.header, 0)
    ktap.equal("groups", told.groups, SPEC.groups())
    ktap.equal("commands", sorted(told.commands), sorted(wanted))
    for number, command in wanted.items():
        ktap.equal(f"flags of {ov.Cmd(number).name}", told.commands[number].flags, command.flags)


@ktap.case("policies of all commands are those of the specification")
def policies() -> None:
    """Types, ranges, lengths and nests, down to the last attribute."""
    told = policy.told("ovpn")
    for number, command in SPEC.commands().items():
        name = ov.Cmd(number).name
        found = told.commands[number]
        compare(name, found.do, command.do)
        compare(f"{name} of all", found.dump, command.dump)


def compare(
    where: str, found: dict[int, policy.Rule] | None, wanted: dict[int, policy.Rule] | None
) -> None:
    """One by one, so that a difference is short enough to read."""
    if found is None or wanted is None:
        ktap.equal(where, found, wanted)
        return
    ktap.equal(f"attributes of {where}", sorted(found), sorted(wanted))
    for number, rule in wanted.items():
        here = f"{where}, attribute {number}"
        if rule.nest is None:
            ktap.equal(here, found[number], rule)
        else:
            ktap.equal(here, found[number].kind, rule.kind)
            compare(here, found[number].nest, rule.nest)


@ktap.case("the tests' constants are those of the specification")
def constants() -> None:
    """A wrong one would make a test of something else."""
    sets: dict[str, type[IntEnum]] = {
        "ovpn": ov.Top, "peer": ov.Peer, "keyconf": ov.Key, "keydir": ov.KeyDir,
    }
    for name, ours in sets.items():
        ktap.equal(name, names(ours), SPEC.numbers(name))
    values: dict[str, type[IntEnum]] = {
        "cipher-alg": ov.Cipher, "key-slot": ov.Slot, "del-peer-reason": ov.Reason,
    }
    for name, ours in values.items():
        ktap.equal(name, names(ours), SPEC.values(name))
    ktap.equal("commands", names(ov.Cmd), SPEC.operations())
    ktap.equal("nonce tail", ov.NONCE_TAIL_SIZE, SPEC.constant("nonce-tail-size"))


def names(numbers: type[IntEnum]) -> dict[str, int]:
    """An enumeration as a table."""
    return {one.name: one.value for one in numbers}


if __name__ == "__main__":
    sys.exit(ktap.run())
