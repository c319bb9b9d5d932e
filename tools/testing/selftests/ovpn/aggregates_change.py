#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What changes or goes away while records arrive together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import flow
import ktap
import nl
from aggregate import arriving, gather, kinds, observed
from endpoint import close_all
from flood import Flood
from ground import LEFT4, Ground
from namespace import load_module
from pace import wait_for
from pair import LEFT_PEER, RIGHT_PEER, Pair, Setting, pair

SIZE, COUNT, ROUNDS = 1300, 20, 6
# The device below cuts bursts, so that each record arrives by itself.
CUT = Setting(segmentation=False)

load_module()
GROUND = Ground()
gather(GROUND)


def under_fire(round_of: Callable[[Pair, Flood, int], None]) -> None:
    """Some rounds under bursts that arrive together, after which all must be well."""
    with pair(GROUND, CUT) as made:
        sent = flow.Datagrams(made)
        flood = Flood(lambda: sent.send(bytes(SIZE * COUNT), SIZE))
        with arriving(GROUND.right) as seen:
            for number in range(ROUNDS):
                flood.some()
                round_of(made, flood, number)
            flood.some()
        flood.close()
        sent.close()
        seen.must_be_together()
        for kind in kinds(CUT):
            observed(made, kind).must_be_together()


def drops(made: Pair) -> int:
    """Packets that the right end could not receive."""
    return made.right.counter("rx_dropped")


@ktap.case("keys are exchanged in the middle of a stream: nothing is lost")
def key_swapped() -> None:
    """Under the next key id."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        made.exchange_keys(number)
        flood.some()
        ktap.equal("drops", drops(made), 0)

    under_fire(once)


@ktap.case("a key is deleted in the middle: each record is counted, and the next key's pass")
def key_deleted() -> None:
    """On the receiving side only."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        before = drops(made)
        made.right.family.key_del(made.right.index, RIGHT_PEER, ov.Slot.PRIMARY)
        flood.some()
        if drops(made) - before < COUNT:
            ktap.fail(f"{drops(made) - before} drops counted, there were bursts of {COUNT}")
        fresh_keys(made, number)

    under_fire(once)


def remote_port(made: Pair) -> int:
    """Where the right end has its peer."""
    return ov.port(made.right.get(RIGHT_PEER)[ov.Peer.REMOTE_PORT])


def fresh_keys(made: Pair, number: int) -> None:
    """The same key on both ends, new in each round, so that no id was seen before."""
    seeds = 10 + 2 * number, 11 + 2 * number
    made.left.key_new(LEFT_PEER, "AES-128-GCM", seeds)
    made.right.key_new(RIGHT_PEER, "AES-128-GCM", seeds[::-1])


@ktap.case("the client's port changes in the middle of a stream: the peer follows")
def floating() -> None:
    """As behind a router that forgets; the way back is the new one at once."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        port = 20_000 + number
        GROUND.left.run("nft", "-f", "-", stdin=moved(made.left.port(), port))
        flood.some()
        wait_for(lambda: remote_port(made) == port, f"the peer did not follow to port {port}", 10)
        ktap.equal("drops", drops(made), 0)

    under_fire(once)
    GROUND.left.run("nft", "flush", "ruleset")


def moved(port: int, outside: int) -> str:
    """Rules that make a port look like another, without connection tracking."""
    return f"""
        flush ruleset
        table ip move {{
            chain out {{
                type filter hook output priority 0; udp sport {port} udp sport set {outside};
            }}
            chain in {{
                type filter hook prerouting priority -300;
                udp dport 20000-30000 udp dport set {port};
            }}
        }}
    """


@ktap.case("the receiving end's peer is deleted in the middle of a stream, and comes back")
def peer_deleted() -> None:
    """Its keys go with it, its socket becomes a plain one."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        right = made.right
        right.family.peer_del(right.index, RIGHT_PEER)
        flood.some()
        right.peer_new(RIGHT_PEER, (LEFT4, made.left.port()), nl.u32(ov.Peer.TX_ID, LEFT_PEER))
        fresh_keys(made, number)

    under_fire(once)


@ktap.case("the receiving socket is closed, and the link deleted, in the middle of a stream")
def closed() -> None:
    """Twelve times, each in the one and in the other order."""
    for number in range(2 * ROUNDS):
        with pair(GROUND, CUT) as made:
            sent = flow.Datagrams(made)
            flood = Flood(lambda: sent.send(bytes(SIZE * COUNT), SIZE))
            with arriving(GROUND.right) as seen:
                flood.some()
            seen.must_be_together()
            if number % 2:
                made.right.socket.close()
                flood.some()
            made.right.close()
            flood.some()
            flood.close()
            sent.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
