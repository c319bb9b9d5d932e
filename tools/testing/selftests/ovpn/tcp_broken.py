#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP transport: streams that make no sense, and connections that are down."""

from __future__ import annotations

import contextlib
import os
import random
import select
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
from endpoint import close_all
from ground import Ground
from namespace import load_module, ours
from stream import LEFT_PEER, RIGHT_PEER, control, frame, is_gone, stream

load_module()
GROUND = Ground()


def is_woken(end) -> None:
    """The daemon must be told by poll that something is wrong with its socket."""
    poller = select.poll()
    poller.register(end.socket, 0)
    events = poller.poll(5000)
    if not events or not events[0][1] & (select.POLLERR | select.POLLHUP):
        ktap.fail(f"poll says {events}")


@ktap.case("a stream that makes no sense ends the peer, and the daemon is woken")
def nonsense() -> None:
    """Packets that are shorter than any packet is; good ones before them pass."""
    for length in (3, 2, 1, 0):
        with stream(GROUND) as made:
            made.right.family.listen()
            record = made.record(b"before")
            bad = struct.pack(">H", length) + bytes(length)
            made.right_tap.write(frame(record) + frame(control(9)) + bad + frame(control(30)))
            made.arrives(b"before")
            # The in-tree driver tells the one or the other.
            if ours() or length >= 2:
                is_gone(made.right, RIGHT_PEER, ov.Reason.TRANSPORT_ERROR)
                ktap.equal("carrier", made.right.carrier(), False)
            if ours() or length < 2:
                is_woken(made.right)
            if ours():
                ktap.equal("drops", made.right.counter("rx_dropped"), 1)


@ktap.case("rubbish does no harm")
def rubbish() -> None:
    """Whatever comes of it: packets for the daemon, dropped records, the end of the peer."""
    for seed in range(20):
        rng = random.Random(seed)
        with stream(GROUND) as made:
            record = made.record(b"before")
            made.right_tap.write(frame(record))
            made.arrives(b"before")
            with contextlib.suppress(OSError):
                for _ in range(20):
                    made.right_tap.write(rng.randbytes(rng.randint(1, 3000)))
                    # What looks like a record is no good one.
                    short = bytes([0x48]) + rng.randbytes(rng.randint(3, 60))
                    made.right_tap.write(frame(short))


@ktap.case("a connection that is reset ends the peer when something is sent")
def reset() -> None:
    """The daemon, who sees the reset, may be quicker, but it is asleep here."""
    with stream(GROUND) as made:
        made.left.family.listen()
        made.left_tap.reset()
        time.sleep(0.2)
        made.send(b"into the void")
        is_gone(made.left, LEFT_PEER, ov.Reason.TRANSPORT_ERROR)
        is_woken(made.left)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
