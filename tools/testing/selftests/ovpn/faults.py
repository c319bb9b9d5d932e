#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every allocation fails once: what was asked for is refused or done, nothing breaks.

Runs on the debug kernel only, which has the means and sees what breaks.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import faults
import ktap
import link
import nl
from endpoint import Endpoint, cipher_of, direction, keepalive, peer_attrs, udp_socket, vpn
from namespace import Namespace, load_module
from wiretap import Tunnel

REMOTE = ("192.0.2.2", 1194)
CIPHERS = ("AES-256-GCM", "CHACHA20-POLY1305")

load_module()
faults.prepare()
LEFT = Namespace("ovpn-left")
RIGHT = Namespace("ovpn-right")
LEFT.ip("link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", RIGHT.name)
for space, name, host in ((LEFT, "va", 1), (RIGHT, "vb", 2)):
    space.ip("address", "add", f"192.0.2.{host}/24", "dev", name)
    space.ip("link", "set", name, "up")


def quietly(action: Callable[[], object]) -> Callable[[], None]:
    """The action, which may be refused: what it undoes need not be there."""

    def run() -> None:
        with contextlib.suppress(OSError):
            action()

    return run


def tried(what: str, count: int) -> None:
    """Says how many allocations there were; none at all means that the filter is wrong."""
    ktap.note(f"{what}: {count} allocations")
    if count == 0:
        ktap.fail(f"{what}: no allocation failed")


@ktap.case("links of both modes")
def links() -> None:
    """Made anew for each allocation."""
    with LEFT.inside():
        for mode, number in link.MODES.items():
            count = faults.each(lambda n=number: link.add("tun0", n), quietly(lambda: link.delete("tun0")))
            tried(f"link of mode {mode}", count)


@ktap.case("peers: made, changed, read, deleted")
def peers() -> None:
    """With and without a socket that is in use already."""
    end = Endpoint(LEFT, "tun0", "mp", "192.0.2.1")
    extra = [vpn("10.9.0.2"), vpn("fd00::2"), keepalive(10, 60)]

    def new() -> None:
        end.family.peer(ov.Cmd.PEER_NEW, end.index, *peer_attrs(1, REMOTE, end.socket, *extra))

    def gone() -> None:
        quietly(lambda: end.family.peer_del(end.index, 1))()
        ktap.equal("peers", end.family.peer_dump(end.index), [])

    tried("peer-new", faults.each(new, gone))
    new()
    moved = peer_attrs(1, ("192.0.2.77", 5), None, vpn("10.9.0.7"), keepalive(5, 50))
    back = peer_attrs(1, REMOTE, None, *extra)
    setting = lambda attrs: end.family.peer(ov.Cmd.PEER_SET, end.index, *attrs)  # noqa: E731
    tried("peer-set", faults.each(lambda: setting(moved), lambda: setting(back)))
    tried("peer-get", faults.each(lambda: end.get(1), lambda: None))
    faults.each(lambda: end.family.peer_dump(end.index), lambda: None)
    end.family.listen()
    tried("peer-del", faults.each(lambda: end.family.peer_del(end.index, 1), quietly(new)))
    end.close()


@ktap.case("keys: installed, read, swapped, deleted")
def keys() -> None:
    """Each cipher."""
    end = Endpoint(LEFT, "tun0", "p2p", "192.0.2.1")
    end.peer_new(1, REMOTE)
    for cipher in CIPHERS:
        number, size = cipher_of(cipher)
        material = direction(size, 1), direction(size, 2)

        def new() -> None:
            end.family.key_new(end.index, 1, ov.Slot.PRIMARY, 0, number, *material)

        tried(f"key-new {cipher}", faults.each(new, quietly(lambda: end.family.key_del(end.index, 1, ov.Slot.PRIMARY))))
    new()
    tried("key-get", faults.each(lambda: end.family.key_get(end.index, 1, ov.Slot.PRIMARY), lambda: None))
    faults.each(lambda: end.family.key_swap(end.index, 1), lambda: None)
    end.close()


@ktap.case("packets in both directions, while a fifth of the allocations fail")
def packets() -> None:
    """And afterwards the tunnel works as if nothing had been."""
    with LEFT.inside():
        tap = udp_socket("192.0.2.1")
    left = Endpoint(LEFT, "tun-left", "p2p", "192.0.2.1")
    right = Endpoint(RIGHT, "tun-right", "mp", "192.0.2.2")
    left.peer_new(2, right.socket.getsockname(), nl.u32(ov.Peer.TX_ID, 1))
    right.peer_new(1, left.socket.getsockname(), nl.u32(ov.Peer.TX_ID, 2), vpn("10.9.0.1"), keepalive(1, 30))
    left.key_new(2, "AES-256-GCM", (1, 2))
    right.key_new(1, "AES-256-GCM", (2, 1))
    left.up("10.9.0.1/24")
    right.up("10.9.0.2/24")
    made = Tunnel(left, right, tap)
    with faults.at_random(20):
        end = time.monotonic() + 20
        number = 0
        while time.monotonic() < end:
            number += 1
            with contextlib.suppress(OSError):
                # Floats there and back, too: each needs a new path.
                bogus = peer_attrs(1, ("192.0.2.1", 9), None)
                right.family.peer(ov.Cmd.PEER_SET, right.index, *bogus)
            for size in (0, 100, 1400, 9000):
                with contextlib.suppress(OSError):
                    made.source.sendto(bytes(size), ("10.9.0.2", 7777))
                    made.target.sendto(bytes(size), ("10.9.0.1", 7777))
        ktap.note(f"{number} rounds")
    made.target.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while made.target.recv(65535) is not None:
            pass
    made.target.settimeout(5)
    made.source.sendto(b"still here", ("10.9.0.2", 7777))
    ktap.equal("payload", made.target.recv(100), b"still here")
    made.close()


sys.exit(ktap.run())
