# SPDX-License-Identifier: GPL-2.0
"""Network namespaces, entered and left by this very process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import time
from collections.abc import Iterator

CLONE_NEWNET = 0x40000000

_LIBC = ctypes.CDLL(None, use_errno=True)


def run(*command: str, stdin: str | None = None) -> str:
    """Runs a command, which must succeed; its output comes back."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


class Namespace:
    """A named namespace; made here, gone with `delete`."""

    def __init__(self, name: str) -> None:
        self.name = name
        if os.path.exists(f"/run/netns/{name}"):
            run("ip", "netns", "delete", name)
        run("ip", "netns", "add", name)
        self.ip("link", "set", "lo", "up")

    def ip(self, *arguments: str) -> str:
        """The ip command in the namespace."""
        return run("ip", "-n", self.name, *arguments)

    def run(self, *command: str, stdin: str | None = None) -> str:
        """A command in the namespace, which must succeed."""
        return run("ip", "netns", "exec", self.name, *command, stdin=stdin)

    def meets(self, address: str) -> None:
        """Waits until this address answers, so its neighbour is known as well.

        A new link takes its time to be up, and ping gives up when a neighbour is
        not found in it.
        """
        end = time.monotonic() + 30
        while True:
            try:
                self.run("ping", "-q", "-c", "1", "-w", "2", address)
                return
            except RuntimeError:
                if time.monotonic() > end:
                    raise

    @contextlib.contextmanager
    def nft(self, rules: str) -> Iterator[None]:
        """Rules for the time of a block."""
        self.run("nft", "-f", "-", stdin=rules)
        try:
            yield
        finally:
            self.run("nft", "flush", "ruleset")

    def delete(self) -> None:
        """Deletes it."""
        run("ip", "netns", "delete", self.name)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What is made inside, sockets above all, belongs to the namespace."""
        with open("/proc/self/ns/net", "rb") as home, open(
            f"/run/netns/{self.name}", "rb"
        ) as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


def load_module() -> None:
    """Loads the module under test, by the same shell code as everywhere."""
    here = os.path.dirname(os.path.abspath(__file__))
    run("bash", "-ec", f". {here}/report.sh; . {here}/module.sh; module_load")


def ours() -> bool:
    """Whether the module under test is ours."""
    return os.environ.get("OVPN_MODULE_KIND") != "intree"
