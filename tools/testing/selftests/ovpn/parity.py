#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Both drivers are asked the same things one after the other, and must do the same.

Documentation/parity.md lists the differences that are wanted, each with its reason;
a difference that is not listed fails, and so does one that is listed and gone.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

# pylint: disable=wrong-import-position
import ktap
from differences import Differences

INTREE = f"/usr/lib/modules/{platform.release()}/kernel/drivers/net/ovpn/ovpn.ko"
KINDS = {"intree": INTREE, os.environ["OVPN_MODULE_KIND"]: os.environ["OVPN_MODULE"]}
OURS = os.environ["OVPN_MODULE_KIND"]
# Of the probes only these, as a person wishes.
GROUPS = sys.argv[1:]
ANSWERS: dict[str, dict[str, Any]] = {}
WANTED = Differences(os.path.join(HERE, "../Documentation/parity.md"))


def asked(kind: str) -> dict[str, Any]:
    """All answers of one module."""
    environment = {**os.environ, "OVPN_MODULE": KINDS[kind], "OVPN_MODULE_KIND": kind}
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        shell = f". {HERE}/lib/report.sh; . {HERE}/lib/module.sh; module_load; module_assert_loaded"
        subprocess.run(["bash", "-ec", shell], env=environment, check=True)
        subprocess.run([f"{HERE}/lib/probe.py", file.name, *GROUPS], env=environment, check=True)
        unload()
        return dict(json.load(file))


def unload() -> None:
    """Links in namespaces that are gone take a moment to go as well."""
    end = time.monotonic() + 20
    while subprocess.run(["rmmod", "ovpn"], capture_output=True, check=False).returncode != 0:
        if time.monotonic() > end:
            ktap.fail("the module cannot be unloaded")
        time.sleep(0.2)


@ktap.case("the in-tree driver answers all probes")
def intree() -> None:
    """And none of them breaks."""
    answers("intree", "intree")


@ktap.case("the driver under test answers all probes")
def ours() -> None:
    """And unloads afterwards."""
    answers("ours", OURS)


def answers(side: str, kind: str) -> None:
    """Takes note of all answers; none may be that the probe itself broke."""
    found = ANSWERS[side] = asked(kind)
    ktap.note(f"{len(found)} answers of the {kind} module")
    for name, answer in found.items():
        if name.endswith("/broken"):
            ktap.fail(f"{name}: {answer}")


@ktap.case("they differ where Documentation/parity.md says so, and nowhere else")
def same() -> None:
    """All of it at once: what was not asked of one is a difference, too."""
    left, right = ANSWERS["intree"], ANSWERS["ours"]
    differ = dict(differences("", left, right))
    unknown = [name for name in differ if not WANTED.allow(name)]
    for name in unknown:
        ktap.note("{}: in-tree {}, ours {}".format(name, *map(json.dumps, differ[name])))
    ktap.note(f"{len(differ)} differences in {len(left)} answers, {len(unknown)} of them are not listed")
    if unknown:
        ktap.fail(f"not listed: {' '.join(unknown)}")


def differences(name: str, left: Any, right: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """The smallest parts that differ, each under its name: probe:field:field."""
    if isinstance(left, dict) and isinstance(right, dict):
        for field in sorted({*left, *right}):
            inner = f"{name}:{field}" if name else field
            yield from differences(inner, left.get(field), right.get(field))
    elif left != right:
        yield name, (left, right)


@ktap.case("good requests are granted, bad ones are refused in more than one way")
def sound() -> None:
    """Two modules that answer alike for a silly reason would agree on everything."""
    for side, found in ANSWERS.items():
        numbers = [answer["errno"] for answer in found.values() if isinstance(answer, dict) and "errno" in answer]
        granted = numbers.count(0)
        ktap.note(f"{side}: {granted} of {len(numbers)} requests granted, {len(set(numbers))} error numbers")
        if numbers and granted * 8 < len(numbers) or not GROUPS and len(set(numbers)) < 8:
            ktap.fail("the requests of the probes do not do what they are for")


@ktap.case("each difference that is listed is there")
def no_stale_entry() -> None:
    """Else the list would hide what comes later. The C driver does not differ from itself."""
    if OURS != "intree" and not GROUPS:
        ktap.equal("listed and not found", WANTED.unused(), [])


if __name__ == "__main__":
    sys.exit(ktap.run())
