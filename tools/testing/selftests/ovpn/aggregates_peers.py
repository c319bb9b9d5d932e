#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records of several keys and peers, and control packets, that arrive at once."""

from __future__ import annotations

import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import inner
import ktap
import nl
from aggregate import arriving
from capture import ETHERNET
from endpoint import close_all, vpn
from flow import UDP_SEGMENT
from ground import Ground
from namespace import load_module
from sealer import CIPHER, UNDEFINED_PEER, Sealer
from stage import PEER, RECEIVING, SENDING, Delivered, Stage, datagrams, stage

COUNT = 12
CONTROL = 4 << 3

load_module()
GROUND = Ground()



def records_of(end: Stage, peer: int) -> int:
    """Records that the driver has counted of a peer."""
    return nl.number(end.right.get(peer)[ov.Peer.LINK_RX_PACKETS])


@ktap.case("a key change in the middle begins a new piece, and both keys' records are delivered")
def key_change() -> None:
    """And records of a key that is not there are counted one by one."""
    with stage(GROUND) as end:
        end.right.key_new(PEER, CIPHER, (4, 3), 1, ov.Slot.SECONDARY)
        next_key = Sealer(PEER, 3, 1)
        packets = datagrams(15)
        records = [
            (next_key if 5 <= at < 10 else end.sealer).seal(one) for at, one in enumerate(packets)
        ]
        end.burst(records, 3)
        end.arrives(packets)
        end.drops()
        unknown = Sealer(PEER, 3, 2)
        packets = datagrams(10)
        records = [(unknown if at < 4 else next_key).seal(one) for at, one in enumerate(packets)]
        end.burst(records, 2)
        end.arrives(packets[4:])
        end.drops(no_key=4)


@ktap.case("two peers behind one address and port are never mixed")
def two_peers() -> None:
    """In turns, one by one and five by five; a peer that does not exist; one without an id."""
    with stage(GROUND, "mp") as end:
        other = end.peer(7, vpn("10.9.0.7"))
        mine = [inner.udp(inner.content(at, 40), inner.Ip(source="10.9.0.1")) for at in range(20)]
        others = [inner.udp(inner.content(at, 40), inner.Ip(source="10.9.0.7")) for at in range(20)]
        for block, pieces in ((1, 20), (5, 4)):
            packets, records = [], []
            for at in range(20):
                sealer, source = (other, others) if at // block % 2 else (end.sealer, mine)
                packets.append(source[at])
                records.append(sealer.seal(source[at]))
            end.burst(records, pieces)
            end.arrives(packets)
            end.drops()
        ktap.equal("records of the one", records_of(end, PEER), 20)
        ktap.equal("records of the other", records_of(end, 7), 20)
        # Each may send from its own address only.
        end.burst([other.seal(one) for one in others[:4] + mine[:3] + others[4:]], 1)
        end.arrives(others)
        end.drops(source=3)
        end.burst([Sealer(9, RECEIVING).seal(one) for one in mine[:6]], 1)
        end.arrives([])
        end.drops(no_peer=6)


@ktap.case("two peers behind one address and port send at the same time")
def concurrent() -> None:
    """Each from a processor of its own, by one socket."""
    bursts, size = 10, 20
    with stage(GROUND, "mp") as end:
        other = end.peer(7, vpn("10.9.0.7"))
        packets, sent = [], []
        for sealer, source in ((end.sealer, "10.9.0.1"), (other, "10.9.0.7")):
            mine = [
                inner.udp(inner.content(at, 20), inner.Ip(source=source)) for at in range(bursts * size)
            ]
            packets += mine
            records = [sealer.seal(one) for one in mine]
            sent.append([records[at : at + size] for at in range(0, len(records), size)])
        end.socket.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(sent[0][0][0]))

        def send(mine: list[list[bytes]]) -> None:
            for one in mine:
                end.socket.sendto(b"".join(one), end.to)

        with arriving(GROUND.right) as seen:
            senders = [threading.Thread(target=send, args=(mine,)) for mine in sent]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
        ktap.note(f"{seen}")
        seen.must_be_together(4)
        end.arrives(packets)
        end.drops()


@ktap.case("records without a peer id arrive together and are told by the address")
def undefined_peer() -> None:
    """As of a peer that has not been told its id."""
    with stage(GROUND) as end:
        end.right.key_new(PEER, CIPHER, (SENDING, RECEIVING))
        end.sealer = Sealer(UNDEFINED_PEER, RECEIVING)
        end.passes(datagrams(COUNT))


@ktap.case("a control packet between records keeps its place and reaches the daemon")
def control() -> None:
    """A tap on the device below sees in which order they go up."""
    with stage(GROUND) as end:
        for length in (4, 40, 1200):
            tap = Delivered(GROUND.right, "vb", raw=True)
            packets = datagrams(COUNT)
            records = end.sealed(packets)
            message = bytes([CONTROL]) + inner.content(length, length - 1)
            # The control packet counts when the daemon reads it.
            end.burst(records[:5] + [message] + records[5:], 2)
            ktap.equal("the daemon's", end.right.socket.recv(65535), message)
            end.arrives(packets)
            end.drops()
            udp = [one[ETHERNET + 28 :] for one in tap.raw() if one[12:14] == b"\x08\x00"]
            order = [one for one in udp if one[:1] in (records[0][:1], bytes([CONTROL]))]
            ktap.equal("lengths of what went up", [len(one) for one in order],
                       [5 * len(records[0]), len(message), 7 * len(records[0])])
            tap.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
