#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A socket that a tunnel has taken and left is a plain one, and keeps the module until its end."""

from __future__ import annotations

import errno
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
from aggregate import arriving, gather
from endpoint import Endpoint, close_all, peer_attrs, udp_socket
from fire import COUNT, PEER, Fire, attach, drained, leave, plain, under_fire
from ground import LEFT4, RIGHT4, RIGHT6, Ground
from namespace import load_module, run

ROUNDS = int(os.environ.get("ROUNDS", "200"))

load_module()
GROUND = Ground()
gather(GROUND)


@ktap.case("a socket that has left gets single datagrams, IPv4 and IPv6")
def left() -> None:
    """While it is taken it gets none, and they arrive together."""
    for over in (4, 6):
        with under_fire(GROUND, over) as (end, flood):
            plain(end, flood)
            for _ in range(10):
                attach(end)
                drained(end)
                with arriving(GROUND.right, over=over) as seen:
                    flood.some()
                seen.must_be_together()
                ktap.equal("datagrams that the socket got", drained(end), 0)
                leave(end)
                plain(end, flood)


@ktap.case("a socket is taken and left 300 times under fire")
def again_and_again() -> None:
    """Whatever is on its way in that moment, no datagram is longer than those that were sent."""
    with under_fire(GROUND) as (end, flood):
        before = end.counter("rx_dropped")
        got = 0
        with arriving(GROUND.right) as seen:
            for number in range(300):
                attach(end)
                if number % 10 == 0:
                    flood.some()
                leave(end)
                if number % 10 == 5:
                    flood.some()
                    got += drained(end, 0.01)
        ktap.note(f"{seen}, {got} for the socket, {end.counter('rx_dropped') - before} for the link")
        if not got or end.counter("rx_dropped") == before:
            ktap.fail("the socket was not both taken and left under fire")
        plain(end, flood)


@ktap.case("a socket that has left another link works for the next one")
def next_link() -> None:
    """And is refused by a second one while it is taken."""
    with under_fire(GROUND) as (end, flood):
        other = Endpoint(GROUND.right, "tun-other", "p2p", RIGHT4)
        other.up()
        attrs = peer_attrs(PEER, (LEFT4, 9), end.socket)
        for _ in range(5):
            attach(end)
            ktap.refused(errno.ENOTSOCK, lambda: other.family.peer(ov.Cmd.PEER_NEW, other.index, *attrs))
            leave(end)
            other.family.peer(ov.Cmd.PEER_NEW, other.index, *attrs)
            before = other.counter("rx_dropped")
            with arriving(GROUND.right) as seen:
                flood.some()
            seen.must_be_together()
            if other.counter("rx_dropped") - before < COUNT:
                ktap.fail("the second link did not get the socket's datagrams")
            other.family.peer_del(other.index, PEER)
        other.close()
        plain(end, flood)


def unload(patience: float) -> bool:
    """Whether the module can be unloaded within some seconds."""
    stop = time.monotonic() + patience
    while True:
        try:
            run("rmmod", "ovpn")
            return True
        except RuntimeError as error:
            if "in use" not in str(error):
                raise
        if time.monotonic() >= stop:
            return False
        time.sleep(0.05)


@ktap.case("the module stays while a socket is open that has left, under fire, and goes soon after")
def in_use() -> None:
    """A socket that still works meanwhile."""
    for over in (4, 6):
        load_module()
        end = Endpoint(GROUND.right, "tun-right", "p2p", RIGHT4 if over == 4 else RIGHT6)
        kept = end.socket.dup()
        fire = Fire(GROUND, end.socket.getsockname()[:2])
        attach(end)
        fire.flood.some()
        end.close()
        if unload(1):
            ktap.fail("unloaded although a socket has its hook")
        end.socket = kept
        plain(end, fire.flood)
        kept.close()
        if not unload(10):
            ktap.fail("cannot be unloaded although no socket is left")
        fire.flood.some()
        fire.close()
    load_module()


@ktap.case(f"{ROUNDS} sockets come, leave and go, the module is unloaded after each ten of them")
def rounds() -> None:
    """Closed before they leave, or after, or with their link; some under fire."""
    for number in range(0, ROUNDS, 10):
        load_module()
        end = Endpoint(GROUND.right, "tun-right", "p2p", RIGHT4)
        fire = Fire(GROUND, end.socket.getsockname()[:2])
        end.up()
        for at in range(10):
            made = end.socket if at == 9 else udp_in_right()
            end.family.peer(ov.Cmd.PEER_NEW, end.index, *peer_attrs(PEER, (LEFT4, 9), made))
            if at == 9:
                fire.flood.some()
            elif at % 2:
                made.close()
            else:
                leave(end)
                made.close()
        end.close()
        if not unload(10):
            ktap.fail(f"cannot be unloaded after {number + 10} sockets")
        fire.close()
    load_module()


def udp_in_right() -> socket.socket:
    """Another socket of the right end."""
    with GROUND.right.inside():
        return udp_socket(RIGHT4)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
