#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Bursts belong to the socket that sent them until they have left (TCP small queues)."""

from __future__ import annotations

import array
import fcntl
import hashlib
import os
import re
import socket
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import flow
import ktap
import pace
from ground import Ground
from namespace import load_module
from pair import INNER_RIGHT, Pair, Setting, pair

SO_MEMINFO = 55
MEMINFO_WMEM_ALLOC = 2
# TCP lets two bursts wait below. What waits is charged with more than its bytes.
QUEUED = 3 * 65536
CHARGED = 512 * 1024
RECORD = 1408
# Of the device below: less than the slowest kernel can send.
KBIT = 20_000 // pace.SLOWER**2

load_module()
GROUND = Ground()


def slow() -> None:
    """The device below sends slowly, and queues what it is given."""
    GROUND.left.run(
        "tc", "qdisc", "replace", "dev", "va", "root", "tbf",
        "rate", f"{KBIT}kbit", "burst", "200k", "limit", "30m",
    )  # fmt: skip


def charge(sock: socket.socket) -> int:
    """Bytes that the socket has sent and that have not left yet."""
    words = array.array("I", sock.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 64))
    return words[MEMINFO_WMEM_ALLOC]


def unacknowledged(sock: socket.socket) -> int:
    """Bytes that are in the send buffer, sent or not."""
    return int(struct.unpack("=i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0])


def queue() -> tuple[int, int]:
    """Bytes that wait in the queue, and packets that it dropped."""
    said = GROUND.left.run("tc", "-s", "qdisc", "show", "dev", "va")
    waiting = re.search(r"backlog (\d+)([KM]?)b", said)
    dropped = re.search(r"dropped (\d+)", said)
    assert waiting and dropped
    unit = {"": 1, "K": 1000, "M": 1_000_000}[waiting[2]]
    return int(waiting[1]) * unit, int(dropped[1])


def transfer(made: Pair, total: int) -> tuple[int, int]:
    """Sends; says how much was charged and how much was queued at most."""
    sink = flow.Sink(made.right.space, INNER_RIGHT[4])
    with made.left.space.inside():
        source = flow.tcp_socket(INNER_RIGHT[4])
    source.connect((INNER_RIGHT[4], flow.PORT))
    data = os.urandom(total)
    # It all fits into the send buffer.
    source.sendall(data)
    charged = queued = 0
    end = time.monotonic() + flow.TIMEOUT
    while unacknowledged(source) and time.monotonic() < end:
        queued = max(queued, queue()[0])
        for _ in range(20):
            charged = max(charged, charge(source))
            time.sleep(0.002)
    ktap.equal("bytes not acknowledged in the end", unacknowledged(source), 0)
    ktap.equal("charge when all has left", charge(source), 0)
    source.close()
    ktap.equal("what arrived", sink.result(), hashlib.sha256(data).hexdigest())
    return charged, queued


def limited(setting: Setting) -> None:
    """What waits below must be charged, and so remain little."""
    with pair(GROUND, setting) as made:
        GROUND.left.run("sysctl", "-qw", "net.ipv4.tcp_wmem=4096 16777216 16777216")
        slow()
        before = queue()[1]
        charged, queued = transfer(made, 6 * flow.FLOW)
        ktap.note(f"{setting}: {charged} bytes charged, {queued} queued at most")
        ktap.equal("drops of the queue", queue()[1] - before, 0)
        if charged > CHARGED or queued > QUEUED:
            ktap.fail(f"{charged} bytes charged, {queued} queued: not limited")
        if queued < RECORD or charged < RECORD:
            ktap.fail(f"{charged} bytes charged, {queued} queued: the queue below was not in the way")


@ktap.case("TCP small queues: a flow in bursts is limited by what waits below, and never stalls")
def in_bursts() -> None:
    """Over IPv4 and IPv6."""
    limited(Setting())
    limited(Setting(over=6))


@ktap.case("so is one in single records")
def in_records() -> None:
    """Where the device below cuts no bursts."""
    limited(Setting(segmentation=False))


@ktap.case("so is one in fragments")
def in_fragments() -> None:
    """Records longer than the MTU below."""
    limited(Setting(lower_mtu=1280))


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
