#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Netlink requests of all kinds, a million of them, beside a model of peers and keys.

The program that asks is tools/testing/netlink-fuzz. REQUESTS says how many (1000000, on a
slow kernel 50000), SEED with which dice, WORKERS in how many processes (3), WORKER which of
them alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ktap
import pace
from namespace import load_module

PROGRAM = "/ovpn/bin/netlink-fuzz"
SPECIFICATION = "/ovpn/kernel/Documentation/netlink/specs/ovpn.yaml"
REQUESTS = int(os.environ.get("REQUESTS", "1000000" if pace.SLOWER == 1 else "50000"))
WORKERS = int(os.environ.get("WORKERS", "3"))
WORKER = os.environ.get("WORKER", "")
SEED = int(os.environ.get("SEED", "1"))

load_module()


def users() -> int:
    """How many links and sockets hold the module."""
    with open("/sys/module/ovpn/refcnt", encoding="ascii") as file:
        return int(file.read())


@ktap.case(f"{REQUESTS} requests are done or refused as the model says")
def requests() -> None:
    """What is refused changes nothing, what is done is told."""
    ktap.note(f"seed {SEED}, {WORKERS} workers")
    count = [str(REQUESTS // WORKERS), "only", WORKER] if WORKER else [str(REQUESTS), str(WORKERS)]
    command = [PROGRAM, SPECIFICATION, str(SEED), *count]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ktap.note(done.stdout + done.stderr)
    ktap.equal("exit code", done.returncode, 0)


@ktap.case("nothing holds the module afterwards")
def afterwards() -> None:
    """The namespaces of the workers go with their links in the background."""
    end = time.monotonic() + 60
    while users() > 0:
        if time.monotonic() > end:
            ktap.fail(f"the module has {users()} users")
        time.sleep(0.2)


sys.exit(ktap.run())
