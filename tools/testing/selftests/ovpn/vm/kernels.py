# SPDX-License-Identifier: GPL-2.0
"""The kernels that a VM can boot: the stock one, the debug one, or a file."""

from dataclasses import dataclass
from pathlib import Path

import lab


@dataclass(frozen=True)
class Kernel:
    """An image with what belongs to it."""

    image: Path
    # An archive of its modules for the guest.
    modules: Path
    release: str
    # Where `make` puts our module for this kernel.
    built: Path
    memory: int = 1536
    append: str = ""
    # How many times longer than on the stock kernel things may take.
    slower: int = 1


# All reports of KASAN, not only the first; warnings shall not stop the run. With five
# levels of page tables an interrupt at the wrong moment of the boot makes KASAN take all
# memory for wild. A task that starves on an emulated CPU is no hung task. The module's
# own tests do not run each time it is loaded: kunit.sh asks for them.
DEBUG_APPEND = (
    "kasan.fault=report kasan_multi_shot panic_on_warn=0 no5lvl kunit.enable=1 kunit.autorun=1 "
    "kunit.filter_glob=only-when-asked "
    "sysctl.kernel.hung_task_timeout_secs=300"
)


def find(name: str, modules: Path | None = None) -> Kernel:
    """`stock`, `debug` or the path of an image; `modules` replaces the archive."""
    builds = lab.path("lab") / "build"
    if name == "debug":
        return Kernel(
            image=lab.existing("debug-vmlinuz"),
            modules=modules or lab.existing("debug-modules"),
            release=str(lab.path("debug-release")),
            built=builds / "debug/ovpn.ko",
            memory=3072,
            append=DEBUG_APPEND,
            slower=4,
        )
    return Kernel(
        image=lab.existing("vmlinuz") if name == "stock" else Path(name),
        modules=modules or lab.existing("modules"),
        release=str(lab.path("release")),
        built=builds / "ovpn/ovpn.ko",
    )
