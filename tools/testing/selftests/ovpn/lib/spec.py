# SPDX-License-Identifier: GPL-2.0
"""The family's specification in the kernel's source, as the policies that follow from it."""

from __future__ import annotations

import os
from typing import Any

import yaml

import policy
from policy import Command, Rule

FILE = "/ovpn/kernel/Documentation/netlink/specs/ovpn.yaml"
_KINDS = {"u16": policy.U16, "u32": policy.U32, "s32": policy.S32, "uint": policy.UINT}
_BITS = {"u16": 16, "u32": 32, "uint": 64}


class Spec:
    """The specification."""

    def __init__(self) -> None:
        with open(os.environ.get("OVPN_SPEC", FILE), encoding="utf-8") as file:
            self._all: dict[str, Any] = yaml.safe_load(file)
        self._sets = {entry["name"]: entry for entry in self._all["attribute-sets"]}
        self._definitions = {entry["name"]: entry for entry in self._all["definitions"]}

    def numbers(self, name: str) -> dict[str, int]:
        """The attributes of a set by name, as our constants are called."""
        return {_upper(entry["name"]): n for n, entry in enumerate(self._sets[name]["attributes"], 1)}

    def values(self, name: str) -> dict[str, int]:
        """The values of an enumeration."""
        return {_upper(entry): n for n, entry in enumerate(self._definitions[name]["entries"])}

    def constant(self, name: str) -> int:
        """A constant."""
        return int(self._definitions[name]["value"])

    def operations(self) -> dict[str, int]:
        """Commands and notifications by name."""
        return {_upper(entry["name"]): n for n, entry in enumerate(self._all["operations"]["list"], 1)}

    def groups(self) -> list[str]:
        """Multicast groups."""
        return [entry["name"] for entry in self._all["mcast-groups"]["list"]]

    def commands(self) -> dict[int, Command]:
        """What the kernel must say of the commands."""
        found = {}
        for number, entry in enumerate(self._all["operations"]["list"], 1):
            if "do" not in entry and "dump" not in entry:
                continue
            made = Command(policy.CAP_HASPOL)
            made.flags |= policy.ADMIN_PERM * ("admin-perm" in entry.get("flags", []))
            rules = self._rules(entry["attribute-set"])
            numbers = self.numbers("ovpn")
            for kind, flag in (("do", policy.CAP_DO), ("dump", policy.CAP_DUMP)):
                if kind in entry:
                    made.flags |= flag
                    wanted = {numbers[_upper(name)] for name in entry[kind]["request"]["attributes"]}
                    setattr(made, kind, {n: rule for n, rule in rules.items() if n in wanted})
            found[number] = made
        return found

    def _rules(self, name: str) -> dict[int, Rule]:
        """The rules of a set; a subset has the numbers and most words of its parent."""
        entry = self._sets[name]
        parent = self._sets[entry["subset-of"]] if "subset-of" in entry else entry
        known = {one["name"]: (n, one) for n, one in enumerate(parent["attributes"], 1)}
        rules = {}
        for one in entry["attributes"]:
            number, original = known[one["name"]]
            rule = self._rule({**original, **one})
            if rule is not None:
                rules[number] = rule
        return rules

    def _rule(self, attribute: dict[str, Any]) -> Rule | None:
        """None for what the kernel does not tell of: numbers in network order. Nor does it
        tell of a longest length without a shortest one; both are for parity.py."""
        if attribute.get("byte-order") == "big-endian":
            return None
        checks = {name: self._value(value) for name, value in attribute.get("checks", {}).items()}
        kind = attribute["type"]
        if kind == "nest":
            return Rule(policy.NESTED, nest=self._rules(attribute["nested-attributes"]))
        if kind == "binary":
            exact = checks.get("exact-len")
            return Rule(policy.BINARY, shortest=exact, longest=exact)
        if kind == "s32":
            return Rule(policy.S32, -(1 << 31), (1 << 31) - 1)
        highest = (1 << _BITS[kind]) - 1
        if "enum" in attribute:
            highest = len(self._definitions[attribute["enum"]]["entries"]) - 1
        return Rule(_KINDS[kind], checks.get("min", 0), checks.get("max", highest))

    def _value(self, value: int | str) -> int:
        return self.constant(value) if isinstance(value, str) else value


def _upper(name: str) -> str:
    return name.upper().replace("-", "_")
