#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records that arrive together: which do, and that a bad one among them drops only itself."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import inner
import ktap
import nl
from capture import ETHERNET
from endpoint import close_all
from ground import Ground
from namespace import load_module
from pair import switch
from stage import PEER, PROBE, Delivered, Stage, datagrams, stage
from wiretap import OVERHEAD, flipped

COUNT = 12

load_module()
GROUND = Ground()


def number(end: Stage, attribute: ov.Peer) -> int:
    """What the driver has counted of the peer."""
    return nl.number(end.right.get(PEER)[attribute])


@ktap.case("records of one peer arrive in one piece, over IPv4 and IPv6, and are counted one by one")
def together() -> None:
    """By the link and by the peer, inside and outside."""
    for over in (4, 6):
        with stage(GROUND, over=over) as end:
            packets = datagrams(COUNT)
            before = end.right.counter("rx_packets")
            end.passes(packets)
            bytes_in = sum(len(packet) for packet in packets)
            ktap.equal("packets of the link", end.right.counter("rx_packets") - before, COUNT)
            for attribute, wanted in (
                (ov.Peer.LINK_RX_PACKETS, COUNT),
                (ov.Peer.LINK_RX_BYTES, bytes_in + COUNT * OVERHEAD),
                (ov.Peer.VPN_RX_PACKETS, COUNT),
                (ov.Peer.VPN_RX_BYTES, bytes_in),
            ):
                ktap.equal(attribute.name, number(end, attribute), wanted)


@ktap.case("ethtool -K tun0 rx-gro-hw off turns it off, and on again")
def turned_off() -> None:
    """Under one and the same socket."""
    with stage(GROUND) as end:
        for on in (True, False, True):
            switch(GROUND.right, end.right.name, "rx-gro-hw", on)
            end.passes(datagrams(COUNT), 1 if on else COUNT)


@ktap.case("after many that came alone one in eight waits, until some come together again")
def patience() -> None:
    """Waiting costs something, too."""
    with stage(GROUND) as end:
        end.alone(31)
        end.passes(datagrams(COUNT))
        end.alone(40)
        end.aligned()
        end.sealer.seal(b"")
        # The next multiple of eight is the eighth of these.
        end.passes(datagrams(20), PROBE)
        end.passes(datagrams(COUNT))


@ktap.case("64 records are complete")
def limit() -> None:
    """The next one begins anew."""
    with stage(GROUND) as end:
        for count, pieces in ((1, 1), (2, 1), (63, 1), (64, 1), (65, 2)):
            end.passes(datagrams(count, 8), pieces)


@ktap.case("all are of one size but the last, which may be shorter")
def sizes() -> None:
    """What is longer begins anew, what follows a shorter one as well."""
    with stage(GROUND) as end:
        for lengths, pieces in (
            ([50] * 5 + [20], 1),
            ([50] * 3 + [20] + [50] * 3, 2),
            ([50] * 3 + [80] * 3, 2),
            ([50, 20, 80, 20, 20], 3),
            ([20, 30, 40, 50], 4),
        ):
            ktap.note(f"{lengths}")
            end.passes([inner.udp(inner.content(at, size)) for at, size in enumerate(lengths)], pieces)


@ktap.case("no piece is longer than the device below allows")
def device_limit() -> None:
    """It says so for each IP version."""
    for over, name in ((4, "gro_ipv4_max_size"), (6, "gro_max_size")):
        with stage(GROUND, over=over) as end:
            for most in (300, 1000, 65_536):
                GROUND.right.ip("link", "set", "vb", name, str(most))
                tap = Delivered(GROUND.right, "vb", raw=True)
                packets = datagrams(COUNT)
                records = end.sealed(packets)
                end.burst(records, None)
                end.arrives(packets)
                at = ETHERNET + (28 if over == 4 else 48)
                longest = max(len(one) for one in tap.raw() if one[at : at + 4] == records[0][:4])
                longest -= ETHERNET
                tap.close()
                ktap.note(f"{name} {most}: {longest}")
                if longest > most or 2 * longest < min(most, 1000):
                    ktap.fail(f"{longest} bytes in one piece, {most} are allowed")


@ktap.case("records longer than a page arrive one by one")
def long_records() -> None:
    """With the longest that wait for each other next to them."""
    for space, link in ((GROUND.left, "va"), (GROUND.right, "vb")):
        space.ip("link", "set", link, "mtu", "9000")
    with stage(GROUND) as end:
        # Frames that large do not fit into the gate, but the stack cuts them itself.
        for size, pieces in ((4096, 1), (4097, 3)):
            packets = [inner.udp(inner.content(at, size - 28)) for at in range(3)]
            end.cut(end.sealed(packets), pieces)
            end.arrives(packets)
            end.drops()
    for space, link in ((GROUND.left, "va"), (GROUND.right, "vb")):
        space.ip("link", "set", link, "mtu", "1500")


@ktap.case("a record that is not authentic drops only itself, wherever it is")
def corrupted() -> None:
    """Its tag, its text, its packet id, and a packet id of 0."""
    with stage(GROUND) as end:
        for place in (0, COUNT // 2, COUNT - 1):
            packets = datagrams(COUNT)
            records = end.sealed(packets)
            for changed in (
                flipped(records[place], 8),
                flipped(records[place], 23),
                flipped(records[place], OVERHEAD),
                flipped(records[place], len(records[place]) - 1),
                flipped(records[place], 6),
                records[place][:4] + bytes(4) + records[place][8:],
            ):
                end.burst([changed if at == place else one for at, one in enumerate(records)], 1)
                end.arrives([one for at, one in enumerate(packets) if at != place])
                end.drops(auth=1)
                records = end.sealed(packets)


@ktap.case("nothing but bad records are all dropped")
def all_bad() -> None:
    """Nothing comes out, and the next ones are fine."""
    with stage(GROUND) as end:
        end.burst([flipped(one, 9) for one in end.sealed(datagrams(COUNT))], 1)
        end.arrives([])
        end.drops(auth=COUNT)
        end.passes(datagrams(COUNT))


@ktap.case("a record that was received before drops only itself")
def replayed() -> None:
    """Before, in the same piece, twice, and one that is too old."""
    with stage(GROUND) as end:
        packets = datagrams(COUNT)
        old = end.sealed(packets)
        end.burst(old, 1)
        end.arrives(packets)
        new = end.sealed(packets)
        end.burst(new[:3] + [old[3]] + new[3:], 1)
        end.arrives(packets)
        end.drops(replay=1)
        new = end.sealed(packets)
        end.burst(new[:5] + new[2:4] + new[5:] + new[-1:], 1)
        end.arrives(packets)
        end.drops(replay=3)
        end.burst(new, 1)
        end.arrives([])
        end.drops(replay=COUNT)
        end.sealer.last += 5000
        new = end.sealed(packets[:-1]) + [end.sealer.seal(packets[-1], 2000)]
        end.burst(new, 1)
        end.arrives(packets[:-1])
        end.drops(replay=1)


@ktap.case("a replayed segment does not spoil the TCP stream around it")
def replayed_segment() -> None:
    """Nor does one that is not authentic."""
    with stage(GROUND) as end:
        packets = inner.stream(COUNT, 50)
        new = end.sealed(packets)
        end.burst(new[:4] + [new[1]] + new[4:], 1)
        end.arrives(packets)
        end.drops(replay=1)
        new = end.sealed(packets)
        end.burst(new[:4] + [flipped(new[4], 10)] + new[5:], 1)
        end.arrives(packets[:4] + packets[5:], 2)
        end.drops(auth=1)


@ktap.case("records in any order arrive together")
def reordered() -> None:
    """The packet ids go down, or jump."""
    with stage(GROUND) as end:
        packets = datagrams(COUNT)
        records = list(zip(packets, end.sealed(packets)))
        for order in (records[::-1], end_first(end, packets)):
            end.burst([record for _, record in order], 1)
            end.arrives([packet for packet, _ in order])
            end.drops()


def end_first(end: Stage, packets: list[bytes]) -> list[tuple[bytes, bytes]]:
    """The last record, then the others."""
    records = list(zip(packets, end.sealed(packets)))
    return records[-1:] + records[:-1]


@ktap.case("what is too short to be a record neither waits nor harms")
def too_short() -> None:
    """At the end and in between: what waits goes up before it."""
    with stage(GROUND) as end:
        for length in (4, 8, OVERHEAD - 1):
            packets = datagrams(COUNT)
            records = end.sealed(packets)
            end.burst(records + [records[0][:length]], 2)
            end.arrives(packets)
            end.drops(short=1)
        packets = datagrams(COUNT)
        records = end.sealed(packets)
        end.burst(records[:6] + [records[0][:OVERHEAD]] + records[6:], 3)
        end.arrives(packets)
        end.drops(auth=1)
        # The shortest that waits: it has one byte of text.
        packets = datagrams(COUNT)
        records = end.sealed(packets)
        end.burst(records + [records[0][: OVERHEAD + 1]], 1)
        end.arrives(packets)
        end.drops(auth=1)


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
