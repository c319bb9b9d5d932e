# SPDX-License-Identifier: GPL-2.0
"""One QEMU: its command line, and waiting for its end."""

import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ACCEL = {
    "kvm": ["-accel", "kvm", "-cpu", "host"],
    "tcg": ["-accel", "tcg,thread=multi", "-cpu", "max"],
}

# What the kernel is told: console and init are ours, an oops ends the VM (and
# -no-reboot ends QEMU), an emulated CPU on a busy machine is no soft lockup, and a
# timer that ticks late there is no broken one, for want of which it would not boot.
CMDLINE = (
    "console=ttyS0 rdinit=/ovpn/vm/init panic=-1 oops=panic loglevel=7 "
    "mitigations=off net.ifnames=0 no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
)


@dataclass
class Machine:
    """A VM to start. Three serial ports: the kernel's console, the command's
    output, and the one line that says with which code the command ended."""

    accel: str
    kernel: Path
    initrd: Path
    folder: Path
    memory: int
    cpus: int
    append: str = ""
    # Whether QEMU's own complaints go to a file beside the logs.
    hush: bool = False

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def control(self) -> Path:
        return self.folder / "control"

    def command(self) -> list[str]:
        return [
            "qemu-system-x86_64",
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "pc"),
            *ACCEL[self.accel],
            *("-smp", str(self.cpus), "-m", f"{self.memory}M"),
            *("-kernel", str(self.kernel), "-initrd", str(self.initrd)),
            *("-append", f"{CMDLINE} {self.append}".strip()),
            *("-serial", f"file:{self.console}"),
            *("-chardev", "stdio,id=out,signal=off", "-serial", "chardev:out"),
            *("-serial", f"file:{self.control}"),
        ]

    def run(self, timeout: float, sink: Callable[[bytes], None]) -> bool:
        """Boot, give the command's output to `sink`; False when time ran out."""
        with (self.folder / "qemu.log").open("wb") as log:
            qemu = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log if self.hush else sys.stderr,
                bufsize=0,
            )
        try:
            return _pump(qemu, time.monotonic() + timeout, sink)
        finally:
            _end(qemu)

    def run_on_terminal(self) -> None:
        """The person has the guest's second port, for as long as they like."""
        qemu = subprocess.Popen(self.command())
        try:
            qemu.wait()
        finally:
            _end(qemu)

    def exit_code(self) -> int | None:
        """What the guest reported, None when it died before."""
        if not self.control.exists():
            return None
        for line in self.control.read_text(errors="replace").splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == "exit" and words[1].isdigit():
                return int(words[1])
        return None


def _pump(qemu: subprocess.Popen[bytes], deadline: float, sink: Callable[[bytes], None]) -> bool:
    assert qemu.stdout is not None
    with selectors.DefaultSelector() as ready:
        ready.register(qemu.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not ready.select(min(left, 1.0)):
                continue
            data = qemu.stdout.read(1 << 16)
            if not data:
                qemu.wait()
                return True
            sink(data)
    return False


def _end(qemu: subprocess.Popen[bytes]) -> None:
    if qemu.poll() is None:
        qemu.kill()
        qemu.wait()
