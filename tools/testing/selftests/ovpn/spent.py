#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A key whose packet ids run out in the middle of bursts: none is used twice, the daemon is told once.

2^32 records are too many for a test. So the counter of a key is found in the machine's memory: it is
near the secret part of the key's nonce, and is the id of the last record each time one was sent. There
it is set to a value near its end.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import flow
import ktap
from capture import Capture
from endpoint import close_all, direction
from ground import Ground
from memory import Memory
from namespace import load_module
from pair import LEFT_PEER, RIGHT_PEER, Pair, Setting, pair
from wiretap import header

LAST = 0xFFFFFFFF
SIZE = 200
# How far the counter may be from the nonce, in the same object.
REACH = 1024
# How many records are sent until the counter is looked at, each time.
STEPS = (41, 1, 73, 8)

load_module()
GROUND = Ground()


def fresh_key(made: Pair, key_id: int, left: int = LAST) -> None:
    """A new primary key for the way from left to right, with so many ids left."""
    sending, back = ov.Direction(os.urandom(16), os.urandom(ov.NONCE_TAIL_SIZE)), direction(16, 9)
    ours, theirs = made.left, made.right
    ours.family.key_new(ours.index, LEFT_PEER, ov.Slot.PRIMARY, key_id, ov.Cipher.AES_GCM, sending, back)
    if left < LAST:
        age(made, sending, left)
    # Only now, since what it has received last is a number, too.
    theirs.family.key_new(theirs.index, RIGHT_PEER, ov.Slot.PRIMARY, key_id, ov.Cipher.AES_GCM, back, sending)


def burst(sender: flow.Datagrams, count: int) -> None:
    """Sends so many datagrams in one go, and waits for none."""
    sender.send(os.urandom(count * SIZE), SIZE)


def age(made: Pair, key: ov.Direction, left: int) -> None:
    """Leaves a key so many ids."""
    memory = Memory()
    where = memory.following(key.nonce_tail, REACH, last_ids(made))
    memory.set_u32(where, LAST - left)
    memory.close()


def last_ids(made: Pair) -> Iterator[int]:
    """Sends some records, again and again; the last one's id."""
    sender = flow.Datagrams(made)
    capture = Capture(GROUND.left, "va")
    for count in STEPS:
        burst(sender, count)
        yield sent_ids(made, capture)[-1]
    capture.close()
    sender.close()


def sent_ids(made: Pair, capture: Capture) -> list[int]:
    """Packet ids of all records that the left end has sent, in their order."""
    records = [
        record for packet in capture.sent() if packet.source == made.left.port() for record in packet.payloads
    ]
    return [header(record)[3] for record in records]


def told_once(made: Pair, key_id: int) -> None:
    """One notification about the key, and none after it."""
    told = made.left.family.notification(20)
    ktap.equal("command", told.command, ov.Cmd.KEY_SWAP_NTF)
    ktap.equal("link", told.ifindex, made.left.index)
    ktap.equal("key", int.from_bytes(told.key[ov.Key.KEY_ID], sys.byteorder), key_id)
    try:
        again = made.left.family.notification(1)
    except TimeoutError:
        return
    ktap.fail(f"told again: {again}")


@ktap.case("ids run out in the middle of a burst: the rest of it is dropped, the daemon is told once")
def one_burst() -> None:
    """Over a device that cuts bursts, and one that does not."""
    for number, segmentation in enumerate((True, False)):
        with pair(GROUND, Setting(segmentation=segmentation)) as made:
            made.left.family.listen()
            key_id = 3 + number
            fresh_key(made, key_id, 50)
            before = made.left.counter("tx_dropped")
            capture = Capture(GROUND.left, "va")
            sender = flow.Datagrams(made)
            burst(sender, 100)
            told_once(made, key_id)
            ktap.equal("ids", sent_ids(made, capture), list(range(LAST - 49, LAST + 1)))
            ktap.equal("drops", made.left.counter("tx_dropped") - before, 50)
            ktap.equal("arrived", [len(sender.target.recv(65535)) for _ in range(50)], [SIZE] * 50)
            # There is no key any more, which is no news.
            burst(sender, 10)
            ktap.equal("ids without a key", sent_ids(made, capture), [])
            ktap.equal("drops", made.left.counter("tx_dropped") - before, 60)
            capture.close()
            sender.close()
            # With a fresh key all is well.
            fresh_key(made, 6)
            flow.udp(made, 4, 1300)


@ktap.case("ids run out under two senders at once: each is used once, the daemon is told once")
def two_senders() -> None:
    """On two CPUs."""
    left, count, bursts = 1000, 70, 20
    with pair(GROUND) as made:
        made.left.family.listen()
        fresh_key(made, 5, left)
        before = made.left.counter("tx_dropped")
        capture = Capture(GROUND.left, "va")
        senders = [flow.Datagrams(made, inner) for inner in (4, 6)]
        threads = [
            threading.Thread(target=lambda one=one: [burst(one, count) for _ in range(bursts)]) for one in senders
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told_once(made, 5)
        ktap.equal("ids", sorted(sent_ids(made, capture)), list(range(LAST - left + 1, LAST + 1)))
        ktap.equal("drops", made.left.counter("tx_dropped") - before, 2 * count * bursts - left)
        capture.close()
        for one in senders:
            one.close()
        fresh_key(made, 6)
        flow.udp(made, 4, 1300)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
