# SPDX-License-Identifier: GPL-2.0
"""With what the figures were measured."""

from __future__ import annotations

import subprocess
import time

import paths
from paths import lab


def gather(command: str) -> dict[str, str]:
    """One line each; what cannot be found out says so."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
        "kernel": lab.path("release").name,
        "rustc": _first("rustc", "--version"),
        "gcc": _first("gcc-14", "--version"),
        "qemu": _first("qemu-system-x86_64", "--version"),
        "command": command,
    }


def commit() -> str:
    """The commit, and whether the driver's sources differ from it."""
    git = ("git", "-C", str(paths.PROJECT))
    found = _first(*git, "log", "-1", "--format=%h %s")
    dirty = _first(*git, "status", "--porcelain", "--", "drivers", "rust", "include", "Kbuild")
    return f"{found} (with changes not committed)" if dirty and dirty != "unknown" else found


def _first(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    if done.returncode != 0:
        return "unknown"
    return done.stdout.splitlines()[0].strip() if done.stdout else ""
