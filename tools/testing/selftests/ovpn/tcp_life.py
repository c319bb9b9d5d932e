#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP transport: sockets and peers that go, and what is left of them."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import close_all
from ground import Ground
from namespace import load_module, ours
from stream import (
    LEFT_PEER,
    RIGHT_PEER,
    control,
    frame,
    is_gone,
    stream,
)

load_module()
GROUND = Ground()


@ktap.case("a closed socket ends the peer, and the other side sees the end of the stream")
def closed() -> None:
    """With records and packets for the daemon on their way."""
    with stream(GROUND) as made:
        made.right.family.listen()
        made.right_tap.write(frame(made.record(b"on its way")) + frame(control(50)) * 10)
        made.right.socket.close()
        is_gone(made.right, RIGHT_PEER, ov.Reason.TRANSPORT_DISCONNECT)
        with contextlib.suppress(ConnectionResetError):
            while made.right_tap.socket.recv(1 << 16):
                pass


@ktap.case("a peer that is deleted leaves a plain socket behind")
def deleted() -> None:
    """Which can be given to a new peer."""
    with stream(GROUND) as made:
        end = made.right
        end.family.peer_del(end.index, RIGHT_PEER)
        made.right_tap.write(b"to the socket")
        ktap.equal("read", end.socket.recv(100), b"to the socket")
        end.socket.sendall(b"from the socket")
        ktap.equal("written", made.right_tap.socket.recv(100), b"from the socket")
        end.peer_new(RIGHT_PEER, None, nl.u32(ov.Peer.TX_ID, LEFT_PEER))
        end.key_new(RIGHT_PEER, "AES-128-GCM", (2, 1))
        made.still_works()
        made.right_tap.write(frame(control(60)))
        made.daemon_reads(control(60))


@ktap.case("who waits for the socket is let go when the peer is deleted")
def readers() -> None:
    """A read that waits goes on as a read of a plain socket."""
    if not ours():
        ktap.note("the in-tree driver lets such a reader wait, and the link with it")
        return
    with stream(GROUND) as made:
        end, got = made.right, []
        end.socket.settimeout(None)
        reader = threading.Thread(target=lambda: got.append(end.socket.recv(100)))
        reader.start()
        time.sleep(0.3)
        made.right_tap.write(frame(control(40)))
        reader.join(5)
        ktap.equal("read", got, [frame(control(40))])
        reader = threading.Thread(target=lambda: got.append(end.socket.recv(100)))
        reader.start()
        time.sleep(0.3)
        end.family.peer_del(end.index, RIGHT_PEER)
        made.right_tap.write(b"plain")
        reader.join(5)
        ktap.equal("read", got[1:], [b"plain"])


@ktap.case("a reader of a few bytes gets the rest later")
def few_bytes() -> None:
    """As from any stream."""
    if not ours():
        ktap.note("the in-tree driver cuts the packet off")
        return
    with stream(GROUND) as made:
        made.right_tap.write(frame(control(40)) + frame(control(50)))
        got = b""
        while len(got) < len(frame(control(40))):
            part = made.right.socket.recv(7, socket.MSG_PEEK)
            ktap.equal("peeked", made.right.socket.recv(7), part)
            got += part
        ktap.equal("packet", got, frame(control(40)))
        made.daemon_reads(control(50))


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
