# SPDX-License-Identifier: GPL-2.0
"""Which function an address belongs to."""

from __future__ import annotations

import bisect
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import counts
import layout


@dataclass(frozen=True)
class Function:
    """A name, and the module it is in; the kernel itself has none."""

    name: str
    module: str = ""

    def shown(self) -> str:
        return f"{self.name} [{self.module}]" if self.module else self.name


USER = Function("(user space)")
USER_CIPHER = Function("(user space, ciphers)")
UNKNOWN = Function("(unknown)")


class Symbols:
    """The functions of a boot: the kernel's are remembered, the modules' come from the boot."""

    def __init__(self, modules: Path) -> None:
        found = _read(layout.symbols_file())
        if modules.exists():
            found += _read(modules)
        # Of several names for an address the first one stands.
        names: dict[int, Function] = {}
        for address, function in found:
            names.setdefault(address, function)
        self._addresses = sorted(names)
        self._names = names

    def at(self, address: int) -> Function:
        if address == counts.USER:
            return USER
        if address == counts.USER_CIPHER:
            return USER_CIPHER
        place = bisect.bisect_right(self._addresses, address)
        return self._names[self._addresses[place - 1]] if place else UNKNOWN


def _read(file: Path) -> list[tuple[int, Function]]:
    lines = file.read_text().splitlines()
    found = []
    for line, name in zip(lines, _readable([line.split()[2] for line in lines])):
        address, kind = line.split()[:2]
        if kind in "tTwW":
            module = re.search(r"\[(\w+)\]$", line)
            found.append((int(address, 16), Function(name, module[1] if module else "")))
    return found


def _readable(names: list[str]) -> list[str]:
    """Rust's names as a person would write them."""
    mangled = [name for name in names if name.startswith("_R")]
    if not mangled:
        return names
    done = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True)
    plain = dict(zip(mangled, (re.sub(r"\[[0-9a-f]{8,}\]", "", line) for line in done.stdout.splitlines())))
    return [plain.get(name, name) for name in names]
