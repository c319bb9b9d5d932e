# SPDX-License-Identifier: GPL-2.0
"""What the guest gets besides its root: our tests, our module, the command to run."""

import os
import shlex
import shutil
from pathlib import Path

import cpio
import lab
from kernels import Kernel
from options import Options

SKIP = ("__pycache__", ".git")
# What tests call in the guest and cargo builds, if it has.
PROGRAMS = ("packet-fuzz", "netlink-fuzz")


def initramfs(opts: Options, kernel: Kernel, target: Path) -> None:
    """Join the guest's root, the kernel's modules and the payload; the kernel unpacks them in order."""
    with target.open("wb") as out:
        for part in (lab.existing("guest"), kernel.modules):
            with part.open("rb") as archive:
                shutil.copyfileobj(archive, out, 1 << 20)
        writer = cpio.Writer(out)
        _fill(writer, opts, kernel)
        writer.close()


def _fill(writer: cpio.Writer, opts: Options, kernel: Kernel) -> None:
    writer.add_tree("ovpn/selftests", lab.SELFTESTS, (*SKIP, "vm"))
    for script in ("init", "suite", "leaks", "upstream"):
        writer.add_file(f"ovpn/vm/{script}", lab.HERE / script)
    for name in PROGRAMS:
        if (program := lab.path("lab") / f"build/{name}/release/{name}").is_file():
            writer.add_file(f"ovpn/bin/{name}", program)
    # parity.py reads there which differences are wanted.
    writer.add_file("ovpn/Documentation/parity.md", lab.PROJECT / "Documentation/parity.md")
    _add_kernel_tools(writer)
    if opts.upstream:
        _add_upstream(writer)
    env = {
        "OVPN_MODULE_KIND": "none",
        "OVPN_SLOWER": str(kernel.slower),
        **_module(writer, opts.module, kernel),
        **_terminal(opts),
        **opts.env,
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    writer.add_bytes("ovpn/vm/env", "\n".join(lines).encode() + b"\n")
    writer.add_bytes("ovpn/vm/command", shlex.join(opts.command).encode() + b"\n")
    writer.add_bytes("ovpn/vm/interactive" if opts.interactive else "ovpn/vm/batch", b"")


def _terminal(opts: Options) -> dict[str, str]:
    """A serial line cannot ask how large the window is."""
    if not opts.interactive:
        return {}
    size = shutil.get_terminal_size()
    return {"OVPN_ROWS": str(size.lines), "OVPN_COLUMNS": str(size.columns), "TERM": os.environ.get("TERM", "linux")}


def _module(writer: cpio.Writer, which: str, kernel: Kernel) -> dict[str, str]:
    """The environment that tells the tests which module is meant."""
    if which == "none":
        return {}
    if which == "intree":
        return {
            "OVPN_MODULE_KIND": "intree",
            "OVPN_MODULE": f"/usr/lib/modules/{kernel.release}/kernel/drivers/net/ovpn/ovpn.ko",
        }
    file = kernel.built if which == "built" else Path(which)
    if not file.is_file():
        raise lab.Error(f"there is no module at {file}; build it with: make modules")
    writer.add_file("ovpn/ovpn.ko", file)
    return {"OVPN_MODULE_KIND": "rust", "OVPN_MODULE": "/ovpn/ovpn.ko"}


def _add_kernel_tools(writer: cpio.Writer) -> None:
    """From the kernel's source: the KTAP helpers, and YNL with its specifications."""
    source = lab.existing("source")
    helpers = "tools/testing/selftests/kselftest/ktap_helpers.sh"
    writer.add_file("ovpn/kselftest/ktap_helpers.sh", source / helpers)
    for folder in ("tools/net/ynl/pyynl", "Documentation/netlink"):
        writer.add_tree(f"ovpn/kernel/{folder}", source / folder, SKIP)


def _add_upstream(writer: cpio.Writer) -> None:
    """Upstream's selftests, untouched, where they find YNL and the KTAP helpers: as in
    the kernel's source. Their program was built by the lab."""
    selftests = "tools/testing/selftests"
    source = lab.existing("source")
    for folder in ("net/ovpn", "kselftest"):
        writer.add_tree(f"ovpn/kernel/{selftests}/{folder}", source / selftests / folder, SKIP)
    writer.add_file(f"ovpn/kernel/{selftests}/net/ovpn/ovpn-cli", lab.existing("upstream") / "ovpn-cli")
