# SPDX-License-Identifier: GPL-2.0
"""The guest's initramfs: the lab's root and kernel modules, the harness, a module under test."""

import shlex
import shutil
from pathlib import Path

import paths
from build import Binaries
from paths import lab
import cpio  # of the VM runner
from plan import Plan

SELFTESTS = paths.PROJECT / "tools/testing/selftests/ovpn"
SKIP = ("__pycache__",)


def write(target: Path, module: str, plan: Plan, programs: Binaries) -> None:
    """The kernel unpacks the archives in their order."""
    with target.open("wb") as out:
        for part in ("guest", "modules"):
            with lab.existing(part).open("rb") as archive:
                shutil.copyfileobj(archive, out, 1 << 20)
        writer = cpio.Writer(out)
        # The netlink client of the tests sets up the traffic of every driver.
        writer.add_tree("ovpn/selftests/lib", SELFTESTS / "lib", SKIP)
        writer.add_tree("ovpn/bench", paths.BENCH / "guest", SKIP)
        for name, file in programs.programs.items():
            writer.add_file(f"ovpn/bench/{name}", file)
        writer.add_bytes("ovpn/bench/plan.json", plan.to_json().encode())
        writer.add_tree("ovpn/bench/nic", paths.BENCH / "nic", SKIP)
        writer.add_file("ovpn/bench/nic.sh", paths.BENCH / "nic.sh")
        values = {"BENCH_SCRIPT": plan.script, **_module(writer, module)}
        lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
        writer.add_bytes("ovpn/bench/env", "\n".join(lines).encode() + b"\n")
        writer.close()


def _module(writer: cpio.Writer, which: str) -> dict[str, str]:
    """How the tests' own code learns which module to load."""
    intree = f"/usr/lib/modules/{lab.path('release')}/kernel/drivers/net/ovpn/ovpn.ko"
    if which == "none":
        return {}
    if which == "intree":
        return {"OVPN_MODULE_KIND": "intree", "OVPN_MODULE": intree}
    if not Path(which).is_file():
        raise lab.Error(f"there is no module at {which}; build it with: make modules")
    writer.add_file("ovpn/ovpn.ko", Path(which))
    ours = "/ovpn/ovpn.ko"
    return {"OVPN_MODULE_KIND": "rust", "OVPN_MODULE": ours, "OVPN_OURS": ours, "OVPN_INTREE": intree}
