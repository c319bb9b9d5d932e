#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A tunnel under traffic ends in every order: its sockets are closed, its peers, links
and namespaces deleted, the module removed. Whatever comes first, all must be gone."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import nl
from endpoint import Endpoint, close_all, keepalive, vpn
from ground import LEFT4, RIGHT4, Ground
from namespace import load_module
from pace import wait_for
from stream import connection

LEFT_PEER, RIGHT_PEER = 2, 1
AT_ONCE = 30


class Doomed:
    """Two ends that send to each other as fast as they can."""

    def __init__(self, tcp: bool) -> None:
        load_module()
        self.ground = Ground()
        ways: tuple[object, object] = (LEFT4, RIGHT4)
        if tcp:
            right, left = connection(self.ground.right, self.ground.left, LEFT4)
            ways = (left, right)
        self.left = Endpoint(self.ground.left, "tun-left", "p2p", ways[0])  # type: ignore[arg-type]
        self.right = Endpoint(self.ground.right, "tun-right", "mp", ways[1])  # type: ignore[arg-type]
        ports = (None, None) if tcp else ((RIGHT4, self.right.port()), (LEFT4, self.left.port()))
        self.left.peer_new(LEFT_PEER, ports[0], tx_id(RIGHT_PEER), keepalive(1, 2))
        self.right.peer_new(RIGHT_PEER, ports[1], tx_id(LEFT_PEER), keepalive(1, 2), vpn("10.9.0.1"))
        self.left.key_new(LEFT_PEER, "AES-128-GCM", (1, 2))
        self.right.key_new(RIGHT_PEER, "AES-128-GCM", (2, 1))
        self.left.up("10.9.0.1/24")
        self.right.up("10.9.0.2/24")
        flood = ["ip", "netns", "exec", self.ground.left.name, "ping", "-f", "-q", "-s", "900", "10.9.0.2"]
        self._flood = subprocess.Popen(flood, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.right.counter("rx_packets") >= 5, "no traffic runs", 10)

    def close_sockets(self) -> None:
        """What the daemon's end does."""
        self.right.socket.close()
        self.left.socket.close()

    def delete_peers(self) -> None:
        """On both sides."""
        self.right.family.peer_del(self.right.index, RIGHT_PEER)
        self.left.family.peer_del(self.left.index, LEFT_PEER)

    def delete_links(self) -> None:
        """On both sides."""
        for end in (self.right, self.left):
            with end.space.inside():
                link.delete(end.name)

    def delete_namespaces(self) -> None:
        """They go when the last socket in them is closed."""
        self.right.family.close()
        self.ground.right.delete()
        self.ground.left.delete()

    def remove_module(self) -> None:
        """May be refused as long as it is in use."""
        subprocess.run(["rmmod", "ovpn"], capture_output=True, check=False)

    def events(self) -> dict[str, Callable[[], None]]:
        """All that can happen."""
        return {
            "sockets": self.close_sockets,
            "peers": self.delete_peers,
            "links": self.delete_links,
            "namespaces": self.delete_namespaces,
            "module": self.remove_module,
        }

    def is_gone(self) -> None:
        """When the traffic has ended, too, nothing may be left."""
        self._flood.kill()
        self._flood.wait()
        for end in (self.left, self.right):
            end.outlive()
        until = time.monotonic() + 20
        while os.path.isdir("/sys/module/ovpn"):
            self.remove_module()
            if time.monotonic() > until:
                ktap.fail("the module is still in use")
            time.sleep(0.02)


def tx_id(number: int) -> bytes:
    """The peer's own number of us."""
    return nl.u32(ov.Peer.TX_ID, number)


def happens(event: Callable[[], None]) -> None:
    """An event may find that another one was faster: then its object is gone."""
    with contextlib.suppress(OSError, RuntimeError):
        event()


@ktap.case("in each of the 120 orders, over UDP and TCP by turns")
def orders() -> None:
    """Sometimes there is a moment between two of them."""
    rng = random.Random(1)
    names = ("sockets", "peers", "links", "namespaces", "module")
    for number, order in enumerate(itertools.permutations(names)):
        doomed = Doomed(tcp=bool(number % 2))
        events = doomed.events()
        for name in order:
            happens(events[name])
            time.sleep(rng.choice((0, 0, 0.01)))
        try:
            doomed.is_gone()
        except AssertionError:
            ktap.note(f"order {number}: {' '.join(order)}")
            raise


@ktap.case("all at the same time")
def together() -> None:
    """Each in a thread of its own."""
    for number in range(AT_ONCE):
        doomed = Doomed(tcp=bool(number % 2))
        threads = [threading.Thread(target=happens, args=(event,)) for event in doomed.events().values()]
        random.Random(number).shuffle(threads)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        doomed.is_gone()


if __name__ == "__main__":
    sys.exit(ktap.run(close_all))
