# SPDX-License-Identifier: GPL-2.0
"""Where things are in the lab."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterable, NoReturn

HERE = Path(__file__).resolve().parent
SELFTESTS = HERE.parent
PROJECT = HERE.parents[4]
TOOL = PROJECT / "tools/lab/lab"


class Error(Exception):
    """Something a person has to put right; the text says what."""


def inside() -> bool:
    """Whether this process runs in the build root already."""
    return os.environ.get("OVPN_IN_LAB") == "1"


def enter(program: str, args: list[str], bind: Iterable[Path]) -> NoReturn:
    """Start over inside the build root, where the folders in `bind` are visible too."""
    os.environ["OVPN_LAB_BIND"] = ":".join(str(path) for path in bind)
    sys.stdout.flush()
    os.execv(TOOL, [str(TOOL), "run", "--", program, *args])


def path(name: str) -> Path:
    """What `tools/lab/lab path NAME` prints."""
    done = subprocess.run([TOOL, "path", name], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Error(f"the lab does not know where its {name} is; make it with: make setup")
    return Path(done.stdout.strip())


def existing(name: str) -> Path:
    """The same, for what must be there."""
    found = path(name)
    if not found.exists():
        raise Error(f"the lab has no {name} yet ({found}); make it with: make setup")
    return found


def new_run(runs: Path, kept: int) -> Path:
    """A new folder in `runs` for one run's logs; only the last `kept` before it stay."""
    runs.mkdir(parents=True, exist_ok=True)
    for old in sorted(runs.iterdir(), key=lambda path: path.stat().st_mtime)[:-kept]:
        shutil.rmtree(old, ignore_errors=True)
    name = time.strftime("%Y%m%d-%H%M%S")
    for number in range(100):
        folder = runs / (f"{name}.{number}" if number else name)
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise Error(f"cannot make a folder for this run in {runs}")
