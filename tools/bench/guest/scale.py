# SPDX-License-Identifier: GPL-2.0
"""A server with many peers: what a peer costs to make, to keep, to find, to list, to delete.

The server is in b. In a there is a second one with some of the same peers, which come
from all over the server's tables; records go both ways between these. Each measurement
is named after the scenario and what is done: LABEL.create, .rx, .tx, .dump, .delete.
"""

from __future__ import annotations

import subprocess

import endpoint
import flow
import namespace
from ground import Ground
from plan import STEP_PACKETS, Outcome

PROGRAM = "/ovpn/bench/peers"
# How many of the peers have traffic.
SAMPLE = 200
# A peer's address in the tunnel: as a knows it, as b knows it; plus the peer's number.
IN_A, IN_B = "10.64.0.0", "10.128.0.0"
PREFIX = {IN_A: 10, IN_B: 9}
ELSEWHERE = "198.18.0.0"
WARMUP, SIZE = 1000, 1300


def run(ground: Ground, outcome: Outcome) -> None:
    """All of it; the outcome gets the memory of a peer."""
    namespace.load_module()
    peers = ground.scenario.peers
    stride = max(1, peers // SAMPLE)
    sample = (stride, stride, min(peers, SAMPLE))
    outer = ground.outer()
    a = endpoint.Endpoint(ground.a, "tun0", "mp", outer[0])
    b = endpoint.Endpoint(ground.b, "tun1", "mp", outer[1])
    try:
        _addresses(a, IN_B, IN_A)
        _addresses(b, IN_A, IN_B)
        label = ground.scenario.label
        _peers(a, "create", sample, f"{label}.sample", [IN_A, outer[1], b.port(), ELSEWHERE, 1, 0])
        reach: list[object] = [IN_B, outer[0], a.port(), ELSEWHERE, stride, 1]
        grown = _peers(b, "create", (1, 1, peers), f"{label}.create", reach)
        outcome.notes["bytes_per_peer"] = grown / peers
        for way, spread in (("rx", (IN_B, IN_A)), ("tx", (IN_A, IN_B))):
            spaces = ("a", "b") if way == "rx" else ("b", "a")
            words = ["spread", *spaces, "0.0.0.0", flow.PORT, 1, WARMUP, STEP_PACKETS, SIZE, f"{label}.{way}"]
            flow.start(words, {"SPREAD": ",".join(map(str, (*spread, *sample)))}, outcome)
        _peers(b, "dump", (1, 1, peers), f"{label}.dump", None)
        _peers(b, "delete", (1, 1, peers), f"{label}.delete", None)
    finally:
        a.close()
        b.close()


def _addresses(end: endpoint.Endpoint, own: str, others: str) -> None:
    """All addresses of the own side are local, all of the other one are behind the tunnel."""
    end.space.ip("link", "set", end.name, "up")
    end.space.ip("route", "add", "local", f"{own}/{PREFIX[own]}", "dev", "lo")
    end.space.ip("route", "add", f"{others}/{PREFIX[others]}", "dev", end.name)


def _peers(
    end: endpoint.Endpoint, what: str, which: tuple[int, int, int], label: str, more: list[object] | None
) -> int:
    """The program's work; returns by how much it made the free memory shrink."""
    words: list[object] = [PROGRAM, what, end.family.id, end.index, *which, label]
    if more is not None:
        words += [end.socket.fileno(), *more]
    with end.space.inside():
        done = subprocess.run(
            list(map(str, words)), pass_fds=[end.socket.fileno()], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"peers {what} ended with {done.returncode}")
    return int(done.stdout.split()[1])
