# SPDX-License-Identifier: GPL-2.0
"""Where the harness and what it builds on live; importing this opens the VM runner's modules."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
PROJECT = BENCH.parents[1]
VM = PROJECT / "tools/testing/selftests/ovpn/vm"
DOCUMENTS = PROJECT / "Documentation/benchmarks"

for folder in (VM, BENCH / "guest"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

import lab  # noqa: E402


def cache() -> Path:
    """The harness's own folder in the lab."""
    folder = lab.path("lab") / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
