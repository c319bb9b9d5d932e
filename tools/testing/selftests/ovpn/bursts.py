#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Bursts arrive byte for byte, and travel together where they may."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import flow
import ktap
from ground import Ground
from namespace import load_module
from pair import Passed, Setting, pair, switch

SO_NO_CHECK = 11
UDP_NO_CHECK6_TX, UDP_NO_CHECK6_RX = 101, 102
IPPROTO_UDP, SOL_SOCKET = 17, 1
CHACHA = "CHACHA20-POLY1305"

load_module()
GROUND = Ground()


def udp_size(setting: Setting, inner: int) -> int:
    """The payload of the longest datagram that fits into the tunnel."""
    return setting.mtu - (28 if inner == 4 else 48)


def flows(setting: Setting, inners: tuple[int, ...] = (4, 6)) -> list[Passed]:
    """All kinds of flows must arrive; says in what they were sent."""
    seen = []
    with pair(GROUND, setting) as made:
        for inner in inners:
            with made.passing() as passed:
                flow.tcp(made, inner)
            seen.append(passed)
            with made.passing() as passed:
                flow.udp(made, inner, udp_size(setting, inner))
            seen.append(passed)
    ktap.note(f"{setting}: " + ", ".join(f"{one.records} in {one.packets}" for one in seen))
    return seen


def bursts(setting: Setting, inners: tuple[int, ...] = (4, 6)) -> None:
    """They must have been sent together."""
    for number, passed in enumerate(flows(setting, inners)):
        # TCP and UDP take turns.
        if number % 2:
            passed.must_be_bursts(8)
        else:
            passed.must_be_bursts()


def single(setting: Setting, inners: tuple[int, ...] = (4, 6)) -> None:
    """They must not have been sent together."""
    for passed in flows(setting, inners):
        passed.must_be_single()


@ktap.case("TCP and UDP, over IPv4 and IPv6, AES and ChaCha20: many records a packet")
def together() -> None:
    """Inner IPv4 and IPv6 each."""
    for cipher, over in (("AES-128-GCM", 4), (CHACHA, 4), (CHACHA, 6)):
        bursts(Setting(cipher, over))


@ktap.case("a device that cuts no bursts gets single records")
def device_without() -> None:
    """Over IPv4 and IPv6."""
    single(Setting("AES-256-GCM", 4, segmentation=False))
    single(Setting(CHACHA, 6, segmentation=False))


@ktap.case("an MTU of 1280 and of 9000 below, and small packets")
def other_mtus() -> None:
    """Records that fit the MTU below, down to the smallest tunnel."""
    bursts(Setting(mtu=1196, lower_mtu=1280), (4,))
    bursts(Setting(over=6, mtu=1280, lower_mtu=9000))
    bursts(Setting(mtu=3900, lower_mtu=9000), (4,))
    bursts(Setting(mtu=576), (4,))


@ktap.case("records longer than the MTU below arrive in fragments")
def fragments() -> None:
    """Segmentation or not."""
    for over, segmentation in ((4, True), (4, False), (6, True)):
        single(Setting(over=over, mtu=1408, lower_mtu=1280, segmentation=segmentation))


@ktap.case("records longer than a page arrive one by one")
def long_records() -> None:
    """The stack cuts these bursts. The longest record is one of 45 fragments."""
    single(Setting(mtu=8900, lower_mtu=9000), (4,))
    single(Setting(over=6, mtu=8900, lower_mtu=9000), (6,))
    with pair(GROUND, Setting(mtu=65_000)) as made:
        longest = flow.Datagrams(made)
        for total in (26_000, 64_000):
            longest.burst(total)
        longest.close()


@ktap.case("ethtool -K tun0 tx-udp-segmentation off turns it off, and on again")
def turned_off() -> None:
    """Under one and the same tunnel."""
    setting = Setting()
    with pair(GROUND, setting) as made:
        for on in (True, False, True):
            switch(GROUND.left, made.left.name, "tx-udp-segmentation", on)
            for kind in (flow.tcp, lambda made: flow.udp(made, 4, 1300)):
                with made.passing() as passed:
                    kind(made)
                if on:
                    passed.must_be_bursts()
                else:
                    passed.must_be_single()


@ktap.case("a socket that sends no checksums gets single records")
def no_checksum() -> None:
    """Over IPv4 and IPv6: datagrams without one cannot be cut."""
    for over in (4, 6):
        with pair(GROUND, Setting(over=over)) as made:
            if over == 4:
                made.left.socket.setsockopt(SOL_SOCKET, SO_NO_CHECK, 1)
            else:
                made.left.socket.setsockopt(IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)
                made.right.socket.setsockopt(IPPROTO_UDP, UDP_NO_CHECK6_RX, 1)
            for inner in (4, 6):
                with made.passing() as passed:
                    flow.tcp(made, inner)
                    flow.udp(made, inner, 1300)
                passed.must_be_single()


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
