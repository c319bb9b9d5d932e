# SPDX-License-Identifier: GPL-2.0
"""A QEMU that runs as fast as it can, for the check by the clock."""

from dataclasses import dataclass

import paths  # noqa: F401 # opens the VM runner's modules
import counting
import machine as vm


@dataclass
class Clocked(vm.Machine):
    """The runner's machine with the benchmark's first process."""

    def command(self) -> list[str]:
        words = super().command()
        words[words.index("-append") + 1] = counting.COMMON
        return words
