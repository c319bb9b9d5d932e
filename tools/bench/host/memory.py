# SPDX-License-Identifier: GPL-2.0
"""The in-tree driver's results, remembered for as long as nothing they depend on changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import build
import paths
import results
from paths import lab
from plan import Plan, Scenario
from results import Result


def recall(scenarios: list[Scenario], seed: int) -> list[Result] | None:
    """What was measured before under the same conditions."""
    file = _file(scenarios, seed)
    return results.load(file) if file.exists() else None


def keep(found: list[Result], scenarios: list[Scenario], seed: int) -> None:
    if all(result.figures for result in found):
        results.save(found, _file(scenarios, seed))


def _file(scenarios: list[Scenario], seed: int) -> Path:
    """Named after everything that has a say: harness, guest, kernel, QEMU, plan."""
    key = hashlib.sha256(f"{build.qemu_version()} {seed} {Plan(scenarios).to_json()}".encode())
    for file in sorted(_sources()):
        key.update(f"{file} ".encode() + file.read_bytes())
    for name in ("vmlinuz", "guest", "modules"):
        stat = lab.existing(name).stat()
        key.update(f"{name} {stat.st_size} {stat.st_mtime_ns}".encode())
    return paths.cache() / "memory" / f"{key.hexdigest()[:16]}.json"


def _sources() -> list[Path]:
    tests = paths.PROJECT / "tools/testing/selftests/ovpn/lib"
    folders = (paths.BENCH / "plugin", paths.BENCH / "guest", paths.BENCH / "host", tests)
    files = (file for folder in folders for file in folder.rglob("*"))
    return [file for file in files if file.is_file() and "__pycache__" not in file.parts]
