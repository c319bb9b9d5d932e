# SPDX-License-Identifier: GPL-2.0
"""One run from the options to the exit code."""

import sys
import time
from pathlib import Path
from typing import BinaryIO

import accel
import kernels
import lab
import payload
import splat
from machine import Machine
from options import Options

EXIT_HANG = 124
EXIT_SPLAT = 123
EXIT_DEAD = 122
EXIT_CANNOT = 121

RUNS_KEPT = 20
CONSOLE_LINES = 40


def run(opts: Options) -> int:
    try:
        return _run(opts)
    except lab.Error as error:
        _say(f"error: {error}")
        return EXIT_CANNOT
    except KeyboardInterrupt:
        _say("interrupted")
        return 130


def _run(opts: Options) -> int:
    folder = lab.new_run(lab.path("lab") / "run", RUNS_KEPT)
    initrd = folder / "initramfs"
    kernel = kernels.find(opts.kernel, opts.modules)
    payload.initramfs(opts, kernel, initrd)
    which = accel.choose(folder)
    append = " ".join([kernel.append, *opts.append])
    machine = Machine(which, kernel.image, initrd, folder, opts.memory or kernel.memory, opts.cpus, append)
    start = time.monotonic()
    try:
        if opts.interactive:
            _say(f"the kernel's console goes to {machine.console}")
            machine.run_on_terminal()
            return machine.exit_code() or 0
        with (folder / "output.log").open("wb") as log:
            limit = opts.timeout * kernel.slower
            ended = machine.run(limit, lambda data: _tee(data, log))
    finally:
        # The one large file of a run, and nobody reads it afterwards.
        initrd.unlink(missing_ok=True)
    _say(f"{which}, {time.monotonic() - start:.0f} s, logs in {folder}")
    return _judge(machine, ended, limit)


def _judge(machine: Machine, ended: bool, timeout: float) -> int:
    """What the run is worth; a complaint of the kernel outweighs the command's own word."""
    console = machine.console.read_text(errors="replace") if machine.console.exists() else ""
    code = machine.exit_code()
    splats = splat.find(console)
    for one in splats:
        during = f" during {one.test}" if one.test else ""
        _say(f"the kernel complained{during}: {one.title}")
        print("\n".join(one.lines), file=sys.stderr)
    if not ended:
        _say(f"time limit of {timeout:.0f} s reached; the last console lines:")
        _tail(console)
        return EXIT_HANG
    if splats:
        return EXIT_SPLAT
    if code is None:
        _say("the guest ended without an exit code; the last console lines:")
        _tail(console)
        return EXIT_DEAD
    return code


def _tee(data: bytes, log: BinaryIO) -> None:
    log.write(data)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _tail(console: str) -> None:
    for line in console.rstrip().splitlines()[-CONSOLE_LINES:]:
        print(f"  | {line}", file=sys.stderr)


def _say(text: str) -> None:
    sys.stdout.flush()
    print(f"vm: {text}", file=sys.stderr, flush=True)
