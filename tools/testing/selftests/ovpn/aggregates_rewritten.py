#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the stack may do to records that have been put together, before they are received."""

from __future__ import annotations

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import vlan
import xdp
from endpoint import Endpoint, close_all
from ground import LEFT4, RIGHT4, Ground
from namespace import load_module
from stage import PEER, datagrams, stage
from wiretap import OVERHEAD

COUNT = 12
OUTSIDE = "203.0.113.9"

load_module()
GROUND = Ground()


@ktap.case("the first is sent to another port on its way: the others follow it")
def other_port() -> None:
    """From one tunnel's socket to another's, and to a plain one, which gets single ones."""
    with stage(GROUND) as end:
        claims = Endpoint(GROUND.right, "tun-other", "p2p", RIGHT4)
        claims.up()
        claims.peer_new(PEER, (LEFT4, 9))
        claimed = claims.port()
        end.right.family.listen()
        with GROUND.right.nft(to_port(claimed, end.right.port())):
            end.to = (RIGHT4, claimed)
            end.both()
        end.stays()
        ktap.equal("drops of the other", claims.counter("rx_dropped"), 0)
        with GROUND.right.inside():
            plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        plain.settimeout(1)
        plain.bind((RIGHT4, 0))
        with GROUND.right.nft(to_port(claimed, plain.getsockname()[1])):
            records = end.sealed(datagrams(COUNT))
            with GROUND.left.inside():
                # Of the old one's flow it is known where it goes.
                sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            with end.gate.held():
                for record in records:
                    sender.sendto(record, end.to)
            sender.close()
            for record in records:
                ktap.equal("datagram", plain.recv(65535), record)
        plain.close()
        claims.close()


def to_port(port: int, other: int) -> str:
    """Rules that redirect a port."""
    return f"""
        table ip move {{
            chain pre {{
                type nat hook prerouting priority -100;
                udp dport {port} redirect to :{other};
            }}
        }}
    """


@ktap.case("the first is given another sender on its way in: the peer moves there once")
def other_sender() -> None:
    """What is behind it in the list still has the old address."""
    rules = f"""
        table ip move {{
            chain in {{
                type nat hook input priority 100;
                ip saddr {LEFT4} snat to {OUTSIDE};
            }}
        }}
    """
    GROUND.right.ip("route", "add", f"{OUTSIDE}/32", "via", LEFT4)
    with stage(GROUND) as end:
        end.right.family.listen()
        with GROUND.right.nft(rules):
            end.both()
            ktap.equal("told", end.right.family.notification().command, ov.Cmd.PEER_FLOAT_NTF)
            end.stays()
        ktap.equal("address", ov.address(end.right.get(PEER)[ov.Peer.REMOTE_IPV4]), OUTSIDE)


@ktap.case("a rule writes into a record in the middle: only that one is lost")
def written_to() -> None:
    """The list is no longer what it was then, and is cut by the stack."""
    with stage(GROUND) as end:
        packets = datagrams(COUNT, 20)
        records = end.sealed(packets)
        size = len(records[0])
        # The text of the record at this place.
        place = 2
        at = 8 + place * size + OVERHEAD + 4
        rules = f"""
            table ip spoil {{
                chain pre {{
                    type filter hook prerouting priority -300;
                    udp dport {end.right.port()} @th,{at * 8},32 set 0x12345678;
                }}
            }}
        """
        with GROUND.right.nft(rules):
            end.burst(records, 1)
        end.arrives(packets[:place] + packets[place + 1 :])
        end.drops(auth=1)
        end.both()


@ktap.case("a program on the VLAN's device (generic XDP) makes one packet of the list")
def linearised() -> None:
    """All of them arrive."""
    if not xdp.supported():
        ktap.skip("this kernel has no BPF")
    below = vlan.Vlan(GROUND, True)
    for over in (4, 6):
        with stage(GROUND, over=over, ends=vlan.ENDS[over]) as end:
            with GROUND.right.inside():
                program = xdp.Pass(link.index("vb.5"))
            end.both()
            program.close()
            end.aligned()
            end.both()
    below.close()


@ktap.case("a program on the device below (generic XDP): nothing is put together, all arrives")
def generic_xdp() -> None:
    """GRO leaves such devices alone."""
    if not xdp.supported():
        ktap.skip("this kernel has no BPF")
    with stage(GROUND) as end:
        with GROUND.right.inside():
            program = xdp.Pass(link.index("vb"))
        end.both(COUNT)
        program.close()
        end.aligned()
        end.both()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
