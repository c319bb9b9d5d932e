# SPDX-License-Identifier: GPL-2.0
"""The command line of the VM runner."""

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Options:
    """What to boot and what to run there."""

    command: list[str]
    timeout: float = 300
    module: str = "built"
    kernel: str = "stock"
    modules: Path | None = None
    memory: int | None = None
    cpus: int = 2
    interactive: bool = False
    upstream: bool = False
    append: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def paths(self) -> list[Path]:
        """Folders outside the project that the run reads."""
        files = [self.modules]
        if self.kernel not in ("stock", "debug"):
            files.append(Path(self.kernel))
        if self.module not in ("built", "intree", "none"):
            files.append(Path(self.module))
        return [file.resolve().parent for file in files if file]


def parse(args: list[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="vm/run",
        description="Boot a kernel in QEMU and run a command there, in /ovpn/selftests.",
        epilog="Exits with the command's code; 124: time limit, 123: kernel splat, 122: the guest died.",
    )
    parser.add_argument("--timeout", type=float, default=300, metavar="S", help="limit (300); four times that on the debug kernel")
    parser.add_argument(
        "--module",
        default="built",
        metavar="WHAT",
        help="the module that OVPN_MODULE names in the guest: a path, 'built' (what make modules left), 'intree' or 'none'",
    )
    parser.add_argument("--kernel", default="stock", metavar="WHAT", help="'stock', 'debug' or the path of an image")
    parser.add_argument("--modules", type=Path, metavar="CPIO", help="another archive of kernel modules")
    parser.add_argument("--memory", type=int, metavar="MIB", help="1536, the debug kernel has 3072")
    parser.add_argument("--cpus", type=int, default=max(2, min(4, os.cpu_count() or 2)), metavar="N")
    parser.add_argument("--interactive", action="store_true", help="the command has the terminal; no time limit")
    parser.add_argument("--upstream", action="store_true", help="the guest has upstream's selftests as well")
    parser.add_argument("--append", action="append", default=[], metavar="ARGS", help="more kernel command line")
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="environment of the command")
    parser.add_argument("command", nargs="+", metavar="CMD")
    found = parser.parse_args(args)
    env = {}
    for pair in found.env:
        name, equals, value = pair.partition("=")
        if not equals:
            parser.error(f"--env {pair}: give NAME=VALUE")
        env[name] = value
    return Options(**{**vars(found), "env": env})
