#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records of a tunnel arrive together, byte for byte."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import flow
import ktap
import nl
from aggregate import Arrived, arriving, gather, join_on, kinds, observed
from capture import ETHERNET
from endpoint import close_all
from ground import Ground
from namespace import load_module
from pair import RIGHT_PEER, Setting, pair, switch
from stage import Delivered

CHACHA = "CHACHA20-POLY1305"
SIZE = 1300
# The device below cuts bursts, so that each record arrives by itself.
CUT = Setting(segmentation=False)

load_module()
GROUND = Ground()
gather(GROUND)


def flows(setting: Setting) -> list[Arrived]:
    """All of them must arrive; says how."""
    with pair(GROUND, setting) as made:
        seen = [observed(made, kind, setting.over) for kind in kinds(setting)]
        ktap.equal("drops", made.right.counter("rx_dropped"), 0)
    ktap.note(f"{setting}: " + ", ".join(f"{one.records} in {one.pieces}" for one in seen))
    return seen


@ktap.case("TCP and UDP, over IPv4 and IPv6, AES and ChaCha20: many records a piece")
def together() -> None:
    """Inner IPv4 and IPv6 each."""
    for cipher, over in (("AES-128-GCM", 4), ("AES-256-GCM", 6), (CHACHA, 4), (CHACHA, 6)):
        for one in flows(Setting(cipher, over, segmentation=False)):
            one.must_be_together()


@ktap.case("small and large records")
def other_sizes() -> None:
    """Those that are longer than a page arrive one by one."""
    for one in flows(Setting(mtu=576, segmentation=False)):
        one.must_be_together()
    for one in flows(Setting(mtu=4000, lower_mtu=9000, segmentation=False)):
        one.must_be_together()
    for one in flows(Setting(mtu=8000, lower_mtu=9000, segmentation=False))[1::2]:
        one.must_be_single()


@ktap.case("ethtool -K tun0 rx-gro-hw off turns it off, and on again")
def turned_off() -> None:
    """Under one and the same tunnel."""
    with pair(GROUND, CUT) as made:
        for on in (True, False, True):
            switch(GROUND.right, made.right.name, "rx-gro-hw", on)
            for kind in kinds(CUT):
                seen = observed(made, kind)
                if on:
                    seen.must_be_together()
                else:
                    seen.must_be_single()


@ktap.case("bursts that the device below does not cut arrive, too")
def not_cut() -> None:
    """They come as one packet of another kind, which is cut when it has arrived."""
    switch(GROUND.left, "va", "tso", True)
    for over in (4, 6):
        setting = Setting(over=over)
        with pair(GROUND, setting) as made:
            for kind in kinds(setting):
                kind(made)
            with made.passing() as passed:
                flow.udp(made, 4, SIZE)
            passed.must_be_bursts()
            ktap.equal("drops", made.right.counter("rx_dropped"), 0)
    gather(GROUND)


@ktap.case("TCP both ways at once")
def both_ways() -> None:
    """Each end is a receiver."""
    join_on(GROUND.right, "vb", GROUND.left, "va")
    for cipher in ("AES-128-GCM", CHACHA):
        with pair(GROUND, Setting(cipher, segmentation=False)) as made:
            with arriving(GROUND.right) as seen, arriving(GROUND.left, "va") as back:
                flow.both_ways(made, 2 * flow.FLOW)
            ktap.note(f"{cipher}: {seen}, {back}")
            seen.must_be_together()
            back.must_be_together()
    switch(GROUND.left, "va", "gro", False)


@ktap.case("a tap on the device below, or on the tunnel, reads everything and disturbs nothing")
def tapped() -> None:
    """Every byte of what arrived together can be read."""
    with pair(GROUND, CUT) as made:
        for kind in kinds(CUT):
            below = Delivered(GROUND.right, "vb", raw=True)
            inside = Delivered(GROUND.right, made.right.name)
            records = nl.number(made.right.get(RIGHT_PEER)[ov.Peer.LINK_RX_PACKETS])
            octets = nl.number(made.right.get(RIGHT_PEER)[ov.Peer.LINK_RX_BYTES])
            packets = made.right.counter("rx_packets")
            seen = observed(made, kind)
            seen.must_be_together()
            octets = nl.number(made.right.get(RIGHT_PEER)[ov.Peer.LINK_RX_BYTES]) - octets
            records = nl.number(made.right.get(RIGHT_PEER)[ov.Peer.LINK_RX_PACKETS]) - records
            packets = made.right.counter("rx_packets") - packets
            frames = [one for one in below.raw() if one[12:14] == b"\x08\x00" and one[23] == 17]
            ktap.equal("octets of records that the tap saw",
                       sum(len(one) - ETHERNET - 28 for one in frames), octets)
            ktap.equal("pieces that the tap saw", len(frames), seen.pieces)
            ktap.equal("packets that the tap inside saw",
                       sum(len(piece) for piece in inside.pieces()), packets)
            ktap.equal("records without a packet inside", records - packets, 0)
            for closed in (below, inside):
                closed.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
