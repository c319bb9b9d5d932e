# SPDX-License-Identifier: GPL-2.0
"""What the kernel says of a generic netlink family: its commands and their policies."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import nl

GENL_CTRL = 0x10
CTRL_CMD_GETFAMILY, CTRL_CMD_GETPOLICY = 3, 10
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_VERSION = 1, 2, 3
CTRL_ATTR_HDRSIZE, CTRL_ATTR_OPS, CTRL_ATTR_MCAST_GROUPS = 4, 6, 7
CTRL_ATTR_POLICY, CTRL_ATTR_OP_POLICY = 8, 9
OP_ID, OP_FLAGS = 1, 2
GROUP_NAME = 1
POLICY_DO, POLICY_DUMP = 1, 2

# Flags of a command.
ADMIN_PERM, CAP_DO, CAP_DUMP, CAP_HASPOL = 1, 2, 4, 8

TYPE, MIN_S, MAX_S, MIN_U, MAX_U, MIN_LEN, MAX_LEN, INDEX = range(1, 9)
U16, U32, S32, BINARY, NESTED, UINT = 3, 4, 8, 10, 13, 17


@dataclass(frozen=True)
class Rule:
    """What an attribute must be like; what the kernel does not say is None."""

    kind: int
    low: int | None = None
    high: int | None = None
    shortest: int | None = None
    longest: int | None = None
    nest: dict[int, Rule] | None = None


@dataclass
class Command:
    """A command: its flags, and the policies of asking for one thing and for all."""

    flags: int = 0
    do: dict[int, Rule] | None = None
    dump: dict[int, Rule] | None = None


@dataclass
class Told:
    """A family as the kernel describes it."""

    version: int
    header: int
    groups: list[str]
    commands: dict[int, Command] = field(default_factory=dict)


def told(name: str) -> Told:
    """Asks for the description of a family."""
    asking = nl.NetlinkSocket(nl.NETLINK_GENERIC)
    try:
        found = _family(asking, name)
        _policies(asking, name, found)
        return found
    finally:
        asking.close()


def _ask(asking: nl.NetlinkSocket, command: int, name: str, flags: int) -> list[dict[int, bytes]]:
    head = struct.pack("=BBH", command, 2, 0)
    answers = asking.request(GENL_CTRL, flags, head + nl.text(CTRL_ATTR_FAMILY_NAME, name))
    return [nl.parse(answer.payload[4:]) for answer in answers]


def _family(asking: nl.NetlinkSocket, name: str) -> Told:
    attrs = _ask(asking, CTRL_CMD_GETFAMILY, name, 0)[0]
    groups = nl.parse(attrs.get(CTRL_ATTR_MCAST_GROUPS, b"")).values()
    names = [nl.parse(group)[GROUP_NAME].rstrip(b"\0").decode() for group in groups]
    found = Told(nl.number(attrs[CTRL_ATTR_VERSION]), nl.number(attrs[CTRL_ATTR_HDRSIZE]), names)
    for one in nl.parse(attrs[CTRL_ATTR_OPS]).values():
        entry = nl.parse(one)
        found.commands[nl.number(entry[OP_ID])] = Command(nl.number(entry[OP_FLAGS]))
    return found


def _policies(asking: nl.NetlinkSocket, name: str, found: Told) -> None:
    """Policies come by number, with nests as numbers of other policies."""
    rules: dict[int, dict[int, dict[int, bytes]]] = {}
    uses: dict[int, dict[int, bytes]] = {}
    for attrs in _ask(asking, CTRL_CMD_GETPOLICY, name, nl.NLM_F_DUMP):
        for command, use in nl.parse(attrs.get(CTRL_ATTR_OP_POLICY, b"")).items():
            uses[command] = nl.parse(use)
        for index, policy in nl.parse(attrs.get(CTRL_ATTR_POLICY, b"")).items():
            for number, rule in nl.parse(policy).items():
                rules.setdefault(index, {})[number] = nl.parse(rule)
    for command, use in uses.items():
        entry = found.commands[command]
        if POLICY_DO in use:
            entry.do = _resolve(rules, nl.number(use[POLICY_DO]))
        if POLICY_DUMP in use:
            entry.dump = _resolve(rules, nl.number(use[POLICY_DUMP]))


def _resolve(rules: dict[int, dict[int, dict[int, bytes]]], index: int) -> dict[int, Rule]:
    return {number: _rule(rules, attrs) for number, attrs in sorted(rules.get(index, {}).items())}


def _rule(rules: dict[int, dict[int, dict[int, bytes]]], attrs: dict[int, bytes]) -> Rule:
    def value(unsigned: int, signed: int) -> int | None:
        if signed in attrs:
            return int.from_bytes(attrs[signed], "little", signed=True)
        return nl.number(attrs[unsigned]) if unsigned in attrs else None

    return Rule(
        nl.number(attrs[TYPE]),
        value(MIN_U, MIN_S),
        value(MAX_U, MAX_S),
        value(MIN_LEN, MIN_LEN),
        value(MAX_LEN, MAX_LEN),
        _resolve(rules, nl.number(attrs[INDEX])) if INDEX in attrs else None,
    )
