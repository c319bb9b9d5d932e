#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Keys, peers, links and routes that go away in the middle of bursts."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import flow
import ktap
import nl
from flood import Flood
from ground import RIGHT4, Ground
from namespace import load_module
from pair import LEFT_PEER, RIGHT_PEER, Pair, pair

ROUNDS = 6
SIZE, COUNT = 1300, 20

load_module()
GROUND = Ground()


def under_fire(round_of: Callable[[Pair, Flood, int], None]) -> None:
    """Some rounds under bursts, after which all must be well."""
    with pair(GROUND) as made:
        sent = flow.Datagrams(made)
        flood = Flood(lambda: sent.send(bytes(SIZE * COUNT), SIZE))
        for number in range(ROUNDS):
            flood.some()
            round_of(made, flood, number)
        flood.close()
        sent.close()
        with made.passing() as passed:
            flow.udp(made, 4, SIZE)
        passed.must_be_bursts()


def fresh_keys(made: Pair, number: int) -> None:
    """The same key on both ends, new in each round, so that no id was seen before."""
    seeds = 10 + 2 * number, 11 + 2 * number
    made.left.key_new(LEFT_PEER, "AES-128-GCM", seeds)
    made.right.key_new(RIGHT_PEER, "AES-128-GCM", seeds[::-1])


def drops(made: Pair) -> int:
    """Packets that the left end could not send."""
    return made.left.counter("tx_dropped")


@ktap.case("a key is deleted in the middle of bursts: each packet of them is counted as dropped")
def key_deleted() -> None:
    """And a new one makes them pass again."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        made.left.family.key_del(made.left.index, LEFT_PEER, ov.Slot.PRIMARY)
        before = drops(made)
        flood.some()
        if drops(made) - before < COUNT:
            ktap.fail(f"{drops(made) - before} drops counted, there were bursts of {COUNT}")
        fresh_keys(made, number)

    under_fire(once)


@ktap.case("keys are exchanged in the middle of bursts: nothing is dropped")
def key_swapped() -> None:
    """Under the next key id."""

    def once(made: Pair, flood: Flood, number: int) -> None:
        before = drops(made)
        made.exchange_keys(number)
        flood.some()
        ktap.equal("drops", drops(made) - before, 0)

    under_fire(once)


@ktap.case("the peer is deleted in the middle of bursts, and comes back")
def peer_deleted() -> None:
    """Its socket and its keys go with it."""

    def once(made: Pair, _: Flood, number: int) -> None:
        left = made.left
        left.family.peer_del(left.index, LEFT_PEER)
        time.sleep(0.05)
        left.peer_new(LEFT_PEER, (RIGHT4, made.right.port()), nl.u32(ov.Peer.TX_ID, RIGHT_PEER))
        fresh_keys(made, number)

    under_fire(once)


@ktap.case("bursts are turned off and on in the middle of bursts: nothing is dropped")
def toggled() -> None:
    """Of the tunnel's link, and of the device below."""

    def once(made: Pair, _: Flood, number: int) -> None:
        name = made.left.name if number % 2 else "va"
        for state in ("off", "on"):
            GROUND.left.run("ethtool", "-K", name, "tx-udp-segmentation", state)
        ktap.equal("drops", drops(made), 0)

    under_fire(once)


@ktap.case("without a route each packet of a burst is counted as dropped")
def no_route() -> None:
    """The device below goes down."""
    with pair(GROUND) as made:
        sent = flow.Datagrams(made)
        sent.burst(SIZE * COUNT, SIZE)
        GROUND.left.ip("link", "set", "va", "down")
        before = drops(made)
        sent.send(bytes(SIZE * COUNT), SIZE)
        lost = drops(made) - before
        GROUND.left.ip("link", "set", "va", "up")
        ktap.equal("drops counted", lost, COUNT)
        sent.burst(SIZE * COUNT, SIZE)
        sent.close()


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
