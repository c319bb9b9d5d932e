#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ways for records to arrive together."""

from __future__ import annotations

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import inner
import ktap
import link
import nl
import vlan
from aggregate import arriving, gather, received
from endpoint import close_all
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import load_module
from pair import switch
from stage import IP_MTU_DISCOVER, PEER, datagrams, stage

COUNT = 12

load_module()
GROUND = Ground()


@ktap.case("in a VLAN, its tag beside the packet or in it")
def in_vlan() -> None:
    """Nothing of it is left on what is delivered, and the peer stays where it is."""
    for accelerated in (True, False):
        below = vlan.Vlan(GROUND, accelerated)
        for over in (4, 6):
            with stage(GROUND, over=over, ends=vlan.ENDS[over]) as end:
                end.right.family.listen()
                end.both()
                end.stays()
        below.close()


@ktap.case("from an IPv6 address that is valid on the link only")
def link_local() -> None:
    """It is one with its device, so the peer would seem to move if that got lost."""
    for space, name, address in ((GROUND.left, "va", "fe80::1"), (GROUND.right, "vb", "fe80::2")):
        space.ip("address", "add", f"{address}/64", "dev", name, "nodad")
    with stage(GROUND, over=6, ends=("fe80::1%va", "fe80::2%vb")) as end:
        with GROUND.right.inside():
            scope = link.index("vb")
        end.right.family.peer_del(end.right.index, PEER)
        end.sealer = end.peer(PEER, nl.u32(ov.Peer.REMOTE_IPV6_SCOPE_ID, scope))
        with GROUND.left.inside():
            end.to = ("fe80::2", end.right.port(), 0, link.index("va"))
        end.right.family.listen()
        end.both()
        end.stays()


@ktap.case("to a socket of both IP versions")
def dual_stack() -> None:
    """IPv4 and IPv6 peers of one socket."""
    for over, here, there in ((4, LEFT4, RIGHT4), (6, LEFT6, RIGHT6)):
        with stage(GROUND, over=over, ends=(here, "::")) as end:
            end.to = (there, end.right.port())
            end.right.family.listen()
            end.both()
            end.stays()


@ktap.case("from two senders in turns")
def two_senders() -> None:
    """Flows of one peer id from two places: each is put together, and the peer follows."""
    with stage(GROUND) as end:
        with GROUND.left.inside():
            other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        other.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 2)
        other.bind((LEFT4, 0))
        packets = datagrams(COUNT)
        records = end.sealed(packets)
        with arriving(GROUND.right) as seen, end.gate.held():
            for at, record in enumerate(records):
                (other if at % 2 else end.socket).sendto(record, end.to)
        ktap.equal("pieces", seen.pieces, 2)
        end.arrives(packets[::2] + packets[1::2])
        end.drops()
        ktap.equal("the peer's port", ov.port(end.right.get(PEER)[ov.Peer.REMOTE_PORT]),
                   other.getsockname()[1])
        other.close()


@ktap.case("where the device below puts together what is none of ours, and in a thread")
def other_settings() -> None:
    """Lists and bursts to be forwarded; NAPI outside of softirqs. All of it with our switch off, too."""
    with stage(GROUND) as end:
        for feature in ("rx-gro-list", "rx-udp-gro-forwarding"):
            switch(GROUND.right, "vb", feature, True)
            for on in (True, False):
                switch(GROUND.right, end.right.name, "rx-gro-hw", on)
                end.aligned()
                end.both(1 if on else COUNT)
            switch(GROUND.right, end.right.name, "rx-gro-hw", True)
            switch(GROUND.right, "vb", feature, False)
        for threaded in "10":
            GROUND.right.run("sh", "-c", f"echo {threaded} >/sys/class/net/vb/threaded")
            packets = inner.stream(60, 20)
            end.burst(end.sealed(packets), None)
            end.arrives(packets)
            end.drops()


@ktap.case("datagrams that arrive in fragments arrive one by one")
def fragments() -> None:
    """Also between others that arrive together."""
    for over in (4, 6):
        with stage(GROUND, over=over) as end:
            if over == 4:
                end.socket.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 0)
            packets = [inner.udp(inner.content(at, 3900)) for at in range(6)]
            with arriving(GROUND.right, over=over) as seen:
                for record in end.sealed(packets):
                    end.socket.sendto(record, end.to)
            ktap.equal("pieces", seen.pieces, 6)
            if seen.records < 18:
                ktap.fail(f"{seen.records} packets arrived, no fragments")
            end.arrives(packets)
            end.drops()


@ktap.case("bursts that nobody has cut are cut when they have arrived")
def not_cut() -> None:
    """The device below leaves that to the receiver."""
    for over in (4, 6):
        with stage(GROUND, over=over) as end:
            GROUND.left.run("ethtool", "-K", "va", "tso", "on", "tx-udp-segmentation", "on")
            for packets in (datagrams(40), inner.stream(40, 50)):
                before = received(GROUND.right, "vb")
                end.cut(end.sealed(packets), 40)
                if received(GROUND.right, "vb") - before > 5:
                    ktap.fail("they were cut before")
                end.arrives(packets)
                end.drops()
            gather(GROUND)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
