# SPDX-License-Identifier: GPL-2.0
"""Where the plugin's hooks are in the kernel: addresses from its symbols, offsets from its BTF."""

import json
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import paths
from paths import lab

HOOKS = {"switch": "__switch_to_asm", "napi": "__napi_poll", "work": "process_one_work"}
OFFSETS = {
    "comm": ("task_struct", "comm"),
    "dev": ("napi_struct", "dev"),
    "name": ("net_device", "name"),
    "func": ("work_struct", "func"),
}


@dataclass(frozen=True)
class Layout:
    """What the plugin has to be told."""

    hooks: dict[str, tuple[int, int]]
    offsets: dict[str, int]

    def arguments(self) -> list[str]:
        ranges = [f"{name}={start:#x}-{end:#x}" for name, (start, end) in self.hooks.items()]
        return [*ranges, *(f"{name}={value}" for name, value in self.offsets.items())]


def memory() -> Path:
    """The layout as remembered, one file for each kernel."""
    return paths.cache() / f"layout-{lab.path('release').name}.json"


def symbols_file() -> Path:
    """The kernel's own symbols, without those of modules."""
    return paths.cache() / f"kallsyms-{lab.path('release').name}"


def known() -> Layout | None:
    """The layout, once a boot has brought the symbols."""
    if not memory().exists() or not symbols_file().exists():
        return None
    found = json.loads(memory().read_text())
    return Layout({name: tuple(pair) for name, pair in found["hooks"].items()}, found["offsets"])


def learn(kallsyms: Path) -> Layout:
    """From the symbols that a boot handed out."""
    lines = [line for line in kallsyms.read_text().splitlines() if "\t[" not in line]
    symbols_file().write_text("\n".join(lines) + "\n")
    layout = Layout(_hooks(lines), _offsets())
    memory().write_text(json.dumps(asdict(layout)))
    return layout


def _hooks(lines: list[str]) -> dict[str, tuple[int, int]]:
    text = sorted((int(line.split()[0], 16), line.split()[2]) for line in lines if line.split()[1] in "tT")
    hooks = {}
    for name, symbol in HOOKS.items():
        starts = [address for address, known_as in text if known_as == symbol]
        if len(starts) != 1:
            raise lab.Error(f"the kernel has {len(starts)} functions {symbol}, the plugin wants to hook one")
        hooks[name] = (starts[0], min(address for address, _ in text if address > starts[0]))
    return hooks


def _offsets() -> dict[str, int]:
    image = lab.existing("kernel") / "vmlinux"
    offsets = {}
    for name, (structure, member) in OFFSETS.items():
        done = subprocess.run(["pahole", "-C", structure, str(image)], capture_output=True, text=True, check=False)
        pattern = rf"^\t\S.*\b{member}(?:\[\d+\])?;\s*/\*\s*(\d+)"
        found = re.search(pattern, done.stdout, re.MULTILINE)
        if not found:
            raise lab.Error(f"pahole finds no {structure}.{member} in {image}")
        offsets[name] = int(found[1])
    return offsets
