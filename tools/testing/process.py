# SPDX-License-Identifier: GPL-2.0
"""Running a command whose output a person sees live and a program reads afterwards."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Done:
    """What came of a command."""

    code: int
    output: str
    timed_out: bool = False

    def why(self) -> str:
        return "time limit reached" if self.timed_out else f"exit code {self.code}"


def run(command: list[str], timeout: float, cwd: Path, env: dict[str, str] | None = None) -> Done:
    """Run to the end or the limit; then the whole process group is stopped."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    expired = threading.Event()
    timer = threading.Timer(timeout, _expire, (process, expired))
    timer.start()
    try:
        output = _pass_on(process)
        code = process.wait()
    finally:
        timer.cancel()
        _stop(process)
    return Done(code, output, expired.is_set())


def _pass_on(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        text = line.decode(errors="replace")
        lines.append(text)
        sys.stdout.write(text)
        sys.stdout.flush()
    return "".join(lines)


def _expire(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
