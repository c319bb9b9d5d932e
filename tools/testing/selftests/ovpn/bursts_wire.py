#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What bursts look like on the wire, and what is counted."""

from __future__ import annotations

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import flow
import ktap
import nl
from capture import Capture, Ids
from endpoint import Endpoint
from ground import Ground
from namespace import load_module
from pair import LEFT_PEER, RIGHT_PEER, Pair, Setting, pair, switch
from wiretap import OVERHEAD

MAX_RECORDS, MAX_BYTES = 128, 65487

load_module()
GROUND = Ground()


def traffic(made: Pair) -> None:
    """Bursts of several sizes, and what is none."""
    for inner in (4, 6):
        flow.tcp(made, inner)
        flow.udp(made, inner, 1300, 3)
        # More than may share a packet: by number, and by length.
        few = flow.Datagrams(made, inner)
        few.burst(128 * 10, 10)
        few.burst(65_000, 600)
        few.close()


@ktap.case("only well-formed records, their ids consecutive, bursts within the limits")
def on_the_wire() -> None:
    """Over IPv4 and IPv6, cut below or not."""
    for over in (4, 6):
        for segmentation in (True, False):
            setting = Setting(over=over, segmentation=segmentation)
            with pair(GROUND, setting) as made:
                capture = Capture(GROUND.left, "va")
                traffic(made)
                look(made, capture, segmentation)
                capture.close()


def look(made: Pair, capture: Capture, segmentation: bool) -> None:
    """Looks at everything that was captured."""
    ids = Ids(RIGHT_PEER)
    longest = 0
    for packet in capture.sent():
        if packet.source != made.left.port():
            continue
        sizes = [len(record) for record in packet.payloads]
        if packet.gso and len(sizes) < 2:
            ktap.fail("a burst of one record")
        if not segmentation and packet.gso:
            ktap.fail("a burst where none may be")
        if len(sizes) > MAX_RECORDS or sum(sizes) > MAX_BYTES:
            ktap.fail(f"a burst of {len(sizes)} records with {sum(sizes)} bytes")
        longest = max(longest, len(sizes))
        for record in packet.payloads:
            ids.check(record)
    sent = made.left.get(LEFT_PEER)
    ktap.equal("records", ids.seen, nl.number(sent[ov.Peer.LINK_TX_PACKETS]))
    ktap.equal("bytes of them", ids.bytes, nl.number(sent[ov.Peer.LINK_TX_BYTES]))
    if segmentation and longest < 100:
        ktap.fail(f"the longest burst had {longest} records, there were some of more than 100")


@ktap.case("two flows at once: no id is used twice, none is left out")
def two_flows() -> None:
    """On two CPUs; the ids of a burst stay together."""
    with pair(GROUND) as made:
        capture = Capture(GROUND.left, "va")
        flows = [flow.Datagrams(made, inner) for inner in (4, 6)]
        threads = [
            threading.Thread(target=lambda one=one: [one.send(bytes(40_000), 1300) for _ in range(30)])
            for one in flows
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = []
        for packet in capture.sent():
            if packet.source == made.left.port():
                ids = [int.from_bytes(record[4:8], "big") for record in packet.payloads]
                ktap.equal("ids of a burst", ids, list(range(ids[0], ids[0] + len(ids))))
                found += ids
        ktap.equal("ids of all", sorted(found), list(range(1, len(found) + 1)))
        ktap.equal("how many", len(found), 2 * 30 * -(-40_000 // 1300))
        capture.close()
        for one in flows:
            one.close()


@ktap.case("everybody counts the same, with bursts, without, and where they are cut by the stack")
def counters() -> None:
    """UDP of known sizes, so that the totals are known, too."""
    for segmentation, switched in ((True, True), (False, True), (True, False)):
        with pair(GROUND, Setting(segmentation=segmentation)) as made:
            switch(GROUND.left, made.left.name, "tx-udp-segmentation", switched)
            sent = flow.Datagrams(made)
            for total, size in ((40_000, 1300), (13_000, 1300), (128 * 40, 40), (500, None)):
                sent.burst(total, size)
            sent.close()
            packets = 31 + 10 + 128 + 1
            inner = 40_000 + 13_000 + 128 * 40 + 500 + packets * 28
            agree(made, packets, inner)


def agree(made: Pair, packets: int, inner: int) -> None:
    """Peers and links of both ends must have counted just that."""
    outer = inner + packets * OVERHEAD
    left, right = made.left, made.right
    ktap.equal("sent by the peer", tally(left, LEFT_PEER, "TX"), (packets, inner, packets, outer))
    ktap.equal("received from it", tally(right, RIGHT_PEER, "RX"), (packets, inner, packets, outer))
    for end, way in ((left, "tx"), (right, "rx")):
        seen = end.counter(f"{way}_packets"), end.counter(f"{way}_bytes")
        ktap.equal(f"{way} of {end.name}", seen, (packets, inner))
        ktap.equal(f"drops of {end.name}", end.counter(f"{way}_dropped"), 0)


def tally(end: Endpoint, peer_id: int, way: str) -> tuple[int, ...]:
    """Packets and bytes inside, packets and bytes outside."""
    peer = end.get(peer_id)
    names = (f"VPN_{way}_PACKETS", f"VPN_{way}_BYTES", f"LINK_{way}_PACKETS", f"LINK_{way}_BYTES")
    return tuple(nl.number(peer[ov.Peer[name]]) for name in names)


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
