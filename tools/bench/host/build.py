# SPDX-License-Identifier: GPL-2.0
"""Compiling the plugin and the guest's programs, in the lab, when their sources changed."""

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import paths
from paths import lab

COMMON = ("-O3", "-Wall", "-Wextra", "-Wno-unused-parameter", "-D_GNU_SOURCE")
PROGRAMS = {"flow": ("flow.c", "tcp.c", "udp.c", "turns.c", "spread.c"), "peers": ("peers.c", "message.c"), "put": ("put.c",)}


@dataclass(frozen=True)
class Binaries:
    """What was compiled."""

    plugin: Path
    programs: dict[str, Path]


def binaries() -> Binaries:
    guest = paths.BENCH / "guest"
    headers = sorted(guest.glob("*.h"))
    programs = {
        name: _compiled(name, [guest / source for source in sources], headers, "-static")
        for name, sources in PROGRAMS.items()
    }
    return Binaries(_plugin(), programs)


def _plugin() -> Path:
    """QEMU loads only a plugin of its own generation."""
    api = 7 if qemu_version()[0] >= 11 else 4
    folder = paths.BENCH / "plugin"
    headers = [*sorted(folder.glob("*.h")), paths.BENCH / "guest/mark.h"]
    flags = ("-fPIC", "-shared", "-fvisibility=hidden", f"-DPLUGIN_API={api}")
    return _compiled("plugin", sorted(folder.glob("*.c")), headers, *flags)


def qemu_version() -> tuple[int, int]:
    done = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    if not found:
        raise lab.Error(f"cannot read QEMU's version from: {done.stdout.splitlines()[0]}")
    return int(found[1]), int(found[2])


def _compiled(name: str, sources: list[Path], headers: list[Path], *flags: str) -> Path:
    """Named after what it was made of: two checkouts may share a lab."""
    options = [*COMMON, *flags]
    key = hashlib.sha256(" ".join(options).encode())
    for file in [*sources, *headers]:
        key.update(f"{file.name} ".encode() + file.read_bytes())
    target = paths.cache() / "bin" / f"{name}-{key.hexdigest()[:16]}"
    if target.exists():
        return target
    target.parent.mkdir(exist_ok=True)
    fresh = target.with_suffix(f".{os.getpid()}")
    command = ["gcc", *options, "-o", str(fresh), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise lab.Error(f"{' '.join(command)}:\n{done.stderr}")
    fresh.rename(target)
    return target
