# SPDX-License-Identifier: GPL-2.0
"""Compiling the plugin and the guest's programs, in the lab, when their sources changed."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

import paths
from paths import lab

COMMON = ("-O3", "-Wall", "-Wextra", "-Wno-unused-parameter", "-D_GNU_SOURCE")
PROGRAMS = {"flow": ("flow.c", "tcp.c", "udp.c"), "put": ("put.c",)}


@dataclass(frozen=True)
class Binaries:
    """What was compiled."""

    plugin: Path
    programs: dict[str, Path]


def binaries() -> Binaries:
    plugin = _plugin()
    programs = {}
    for name, sources in PROGRAMS.items():
        target = paths.cache() / name
        folder = paths.BENCH / "guest"
        _compile(target, [folder / source for source in sources], folder.glob("*.h"), "-static")
        programs[name] = target
    return Binaries(plugin, programs)


def _plugin() -> Path:
    """QEMU loads only a plugin of its own generation, so the file is named after it."""
    api = 7 if qemu_version()[0] >= 11 else 4
    target = paths.cache() / f"plugin-{api}.so"
    folder = paths.BENCH / "plugin"
    headers = [*folder.glob("*.h"), paths.BENCH / "guest/mark.h"]
    flags = ("-fPIC", "-shared", "-fvisibility=hidden", f"-DPLUGIN_API={api}")
    _compile(target, sorted(folder.glob("*.c")), headers, *flags)
    return target


def qemu_version() -> tuple[int, int]:
    done = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    if not found:
        raise lab.Error(f"cannot read QEMU's version from: {done.stdout.splitlines()[0]}")
    return int(found[1]), int(found[2])


def _compile(target: Path, sources: list[Path], headers: Iterable[Path], *flags: str) -> None:
    inputs = [*sources, *headers]
    if target.exists() and all(path.stat().st_mtime <= target.stat().st_mtime for path in inputs):
        return
    fresh = target.with_suffix(".new")
    command = ["gcc", *COMMON, *flags, "-o", str(fresh), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise lab.Error(f"{' '.join(command)}:\n{done.stderr}")
    fresh.rename(target)
