# SPDX-License-Identifier: GPL-2.0
"""KVM or emulation. A /dev/kvm that exists need not work, so a trial boot decides."""

import os
from pathlib import Path

import kernels
import lab
import payload
from machine import Machine
from options import Options

TRIAL_SECONDS = 25


def choose(folder: Path) -> str:
    """The accelerator for this machine; the answer of the trial is kept in the lab."""
    forced = os.environ.get("OVPN_ACCEL")
    if forced in ("kvm", "tcg"):
        return forced
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    memory = lab.path("lab") / "accel"
    if memory.exists():
        return memory.read_text().strip()
    answer = "kvm" if _kvm_boots(folder) else "tcg"
    memory.write_text(answer + "\n")
    return answer


def _kvm_boots(folder: Path) -> bool:
    trial = folder / "kvm-trial"
    trial.mkdir()
    opts = Options(command=["true"], module="none")
    kernel = kernels.find("stock")
    payload.initramfs(opts, kernel, trial / "initramfs")
    machine = Machine("kvm", kernel.image, trial / "initramfs", trial, kernel.memory, 1, hush=True)
    ended = machine.run(TRIAL_SECONDS, lambda data: None)
    (trial / "initramfs").unlink()
    return ended and machine.exit_code() == 0
