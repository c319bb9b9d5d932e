# SPDX-License-Identifier: GPL-2.0
"""The QEMU that counts: one CPU that executes one instruction each nanosecond, all in RAM."""

from dataclasses import dataclass, field
from pathlib import Path

import paths  # noqa: F401 # opens the VM runner's modules
import machine as vm

COMMON = (
    "console=ttyS0 quiet rdinit=/ovpn/bench/init panic=-1 oops=panic mitigations=off init_on_alloc=0 "
    "nowatchdog audit=0 lsm=capability net.ifnames=0 rcupdate.rcu_cpu_stall_suppress=1"
)
# What makes two boots alike: no address randomisation, no watchdogs, no clock but
# the counted instructions.
CMDLINE = f"{COMMON} nokaslr norandmaps tsc=reliable no_timer_check kfence.sample_interval=0 damon_stat.enabled=0"


@dataclass
class Counting(vm.Machine):
    """Takes the place of the runner's machine; the ports are the same."""

    plugin: Path = Path()
    arguments: list[str] = field(default_factory=list)
    seed: int = 1

    def command(self) -> list[str]:
        return [
            "qemu-system-x86_64",
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "q35,hpet=off"),
            *("-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", f"{self.memory}M"),
            *("-icount", "shift=0,sleep=off", "-seed", str(self.seed)),
            *("-rtc", "base=2026-01-01T00:00:00,clock=vm"),
            *("-plugin", ",".join([str(self.plugin), f"out={self.folder}", *self.arguments])),
            *("-kernel", str(self.kernel), "-initrd", str(self.initrd)),
            *("-append", f"{CMDLINE} {self.append}".strip()),
            *("-serial", f"file:{self.console}"),
            *("-chardev", "stdio,id=out,signal=off", "-serial", "chardev:out"),
            *("-serial", f"file:{self.control}"),
        ]
