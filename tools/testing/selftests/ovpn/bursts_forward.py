#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Datagrams that were put together on their way in are forwarded into the tunnel."""

from __future__ import annotations

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import flow
import ktap
from capture import ETH_P_ALL, SO_RCVBUFFORCE
from ground import RIGHT4, Ground
from namespace import Namespace, load_module
from pair import Setting, pair, switch

TARGET = "10.9.0.2"
SIZE, COUNT = 1300, 40

load_module()
GROUND = Ground()


class Origin:
    """Where the datagrams come from: a third namespace, behind the left one."""

    def __init__(self, forwarding: str) -> None:
        self.space = Namespace("ovpn-origin")
        left = GROUND.left
        left.ip("link", "add", "vin", "type", "veth", "peer", "name", "vout", "netns", self.space.name)
        for space, link, address in ((left, "vin", "10.8.0.1/24"), (self.space, "vout", "10.8.0.9/24")):
            space.ip("address", "add", address, "dev", link)
            space.ip("link", "set", link, "up")
        self.space.ip("route", "add", "default", "via", "10.8.0.1")
        left.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        # Of a burst to a neighbour that is not known yet some would be lost.
        self.space.meets("10.8.0.1")
        left.meets(RIGHT4)
        # Cut where they start, put together where they are forwarded.
        switch(self.space, "vout", "tx-udp-segmentation", False)
        switch(left, "vin", "gro", True)
        switch(left, "vin", forwarding, True)

    def close(self) -> None:
        """Takes it away."""
        self.space.delete()


def longest(capture: socket.socket) -> int:
    """The most bytes in one packet that the tunnel was given."""
    most = 0
    while True:
        try:
            most = max(most, len(capture.recv(1 << 17)))
        except TimeoutError:
            return most


def forwarded(forwarding: str, setting: Setting) -> None:
    """Everything must arrive, and have been put together before."""
    with pair(GROUND, setting) as made:
        origin = Origin(forwarding)
        GROUND.right.ip("route", "replace", "10.8.0.0/24", "dev", made.right.name)
        with GROUND.left.inside():
            capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        capture.bind((made.left.name, ETH_P_ALL))
        capture.settimeout(0.5)
        sent = flow.Datagrams(made)
        sent.source.close()
        with origin.space.inside():
            sent.source = flow.udp_socket("10.8.0.9")
        for _ in range(5):
            sent.burst(SIZE * COUNT, SIZE)
        most = longest(capture)
        ktap.note(f"{forwarding}: at most {most} bytes in one packet")
        if most < 2 * SIZE:
            ktap.fail("nothing was put together on its way in")
        for closed in (sent, capture, origin):
            closed.close()


@ktap.case("datagrams in a list (rx-gro-list) are forwarded")
def in_a_list() -> None:
    """With bursts below, and without."""
    for segmentation in (True, False):
        forwarded("rx-gro-list", Setting(segmentation=segmentation))


@ktap.case("datagrams in one packet (rx-udp-gro-forwarding) are forwarded")
def in_one() -> None:
    """With bursts below, and without."""
    for segmentation in (True, False):
        forwarded("rx-udp-gro-forwarding", Setting(segmentation=segmentation))


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
