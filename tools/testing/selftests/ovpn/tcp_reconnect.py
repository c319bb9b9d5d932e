#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""TCP transport: 200 times a connection, a few records both ways, and an end of it."""

from __future__ import annotations

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import contextlib
import socket

import ktap
from endpoint import Endpoint, close_all, udp_socket, vpn
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import load_module
from stream import connection, control, frame

ROUNDS = int(os.environ.get("ROUNDS", "200"))
SEED = int(os.environ.get("SEED", "1"))
CLIENT, SERVER = "10.9.0.1", "10.9.0.2"
PORT = 7777
# How a connection ends: who does what.
ENDS = (
    "client closes", "server closes", "client is reset", "server is reset",
    "client's peer is deleted", "server's peer is deleted", "both close",
)

load_module()
GROUND = Ground()


class Pair:
    """A client and a server that stay, while connections come and go."""

    def __init__(self) -> None:
        self.client = Endpoint(GROUND.left, "tun-left", "p2p", LEFT4)
        self.server = Endpoint(GROUND.right, "tun-right", "mp", RIGHT4)
        self.client.up(f"{CLIENT}/24")
        self.server.up(f"{SERVER}/24")
        with GROUND.left.inside():
            self.there = udp_socket(CLIENT, PORT)
        with GROUND.right.inside():
            self.here = udp_socket(SERVER, PORT)

    def connect(self, peer: int, over: str) -> None:
        """A new connection, with new keys."""
        made, accepted = connection(GROUND.left, GROUND.right, over)
        for end, one, extra in (
            (self.client, made, ()), (self.server, accepted, (vpn(CLIENT),)),
        ):
            end.socket.close()
            end.socket = one
            end.peer_new(peer, None, *extra)
        self.client.key_new(peer, "AES-128-GCM", (peer & 0xFF, (peer + 1) & 0xFF))
        self.server.key_new(peer, "AES-128-GCM", ((peer + 1) & 0xFF, peer & 0xFF))
        self.client.operational()

    def talk(self, number: int) -> None:
        """A datagram each way, and a packet for each daemon."""
        for source, target, to in (
            (self.there, self.here, (SERVER, PORT)), (self.here, self.there, (CLIENT, PORT)),
        ):
            payload = b"%d" % number + bytes(number % 1300)
            source.sendto(payload, to)
            ktap.equal("payload", target.recv(2000), payload)
        for source, target in (
            (self.client.socket, self.server.socket), (self.server.socket, self.client.socket),
        ):
            source.sendall(frame(control(20 + number)))
            ktap.equal("packet", target.recv(2000), frame(control(20 + number)))

    def busy(self) -> None:
        """Records on their way, which nobody waits for."""
        with contextlib.suppress(OSError):
            for _ in range(5):
                self.there.sendto(b"x" * 1000, (SERVER, PORT))
                self.here.sendto(b"y" * 1000, (CLIENT, PORT))

    def end(self, how: str, peer: int) -> None:
        """Ends the connection; what is left of it afterwards is cleared away."""
        ends = [end for end, name in ((self.client, "client"), (self.server, "server"))
                if how.startswith(name) or how.startswith("both")]
        for one in ends:
            if how.endswith("reset"):
                one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            if how.endswith("deleted"):
                one.family.peer_del(one.index, peer)
            else:
                one.socket.close()
        self.busy()
        for one in (self.client, self.server):
            # The other side's daemon sees the end of the stream, and lets go.
            one.socket.close()
        self.quiet()

    def quiet(self) -> None:
        """Throws away what came late."""
        for one in (self.here, self.there):
            one.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                while one.recv(2000):
                    pass
            one.settimeout(5)

    def close(self) -> None:
        """Everything."""
        for one in (self.here, self.there):
            one.close()
        for end in (self.client, self.server):
            end.close()


@ktap.case(f"{ROUNDS} connections end in every way, and the next one works")
def rounds() -> None:
    """Over both families; no peer is left behind."""
    dice = random.Random(SEED)
    made = Pair()
    for number in range(ROUNDS):
        how = ENDS[number % len(ENDS)]
        try:
            made.connect(number + 1, (RIGHT4, RIGHT6)[number % 2])
            made.talk(number)
            if dice.random() < 0.5:
                made.busy()
            made.end(how, number + 1)
        except Exception:
            ktap.note(f"in round {number}, where {how}")
            raise
        for end in (made.client, made.server):
            ktap.equal(f"peers left after round {number}", end.family.peer_dump(end.index), [])
    made.close()


if __name__ == "__main__":
    ktap.note(f"{LEFT4} and {LEFT6} connect, seed {SEED}")
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
