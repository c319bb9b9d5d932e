# SPDX-License-Identifier: GPL-2.0
"""Authentic records with something inside that should not be there."""

from __future__ import annotations

from collections.abc import Iterator

from craft import PING, ipv4, ipv6
from endpoint import direction, udp_socket
from ground import ELSEWHERE4
from probe import Answer, probes
from probe_traffic import Watch, ground
from sealer import Seal

GOOD = ipv4("10.9.0.1", "10.9.0.2", b"crafted!")
OTHER = "10.9.0.66"
# What one sends as peer id who was given none.
NO_ID = 0xFFFFFF

INSIDE: dict[str, bytes] = {
    "good": GOOD,
    "nothing": b"",
    **{f"byte-{byte:02x}": bytes([byte]) for byte in (0x00, 0x2A, 0x45, 0x60, 0xFF)},
    **{f"version-{n}": bytes([n << 4 | 5]) + GOOD[1:] for n in (0, 1, 3, 5, 7, 15)},
    "compression-stub-fa": b"\xfa" + GOOD,
    "compression-stub-fb": b"\xfb" + GOOD,
    "v4-19-bytes": GOOD[:19],
    "v4-20-bytes": GOOD[:20],
    "v4-cut": GOOD[:-1],
    "v4-longer": GOOD + b"more",
    "v4-length-lies": ipv4("10.9.0.1", "10.9.0.2", b"crafted!", total=1000),
    "v4-length-short": ipv4("10.9.0.1", "10.9.0.2", b"crafted!", total=10),
    "v4-false-checksum": ipv4("10.9.0.1", "10.9.0.2", b"crafted!", spoil=1),
    "v4-words-4": ipv4("10.9.0.1", "10.9.0.2", b"crafted!", words=4),
    "v4-words-15": ipv4("10.9.0.1", "10.9.0.2", b"crafted!", words=15),
    "v4-from-another": ipv4(OTHER, "10.9.0.2", b"crafted!"),
    "v4-from-us": ipv4("10.9.0.2", "10.9.0.2", b"crafted!"),
    "v4-from-nobody": ipv4("0.0.0.0", "10.9.0.2", b"crafted!"),
    "v4-from-many": ipv4("224.0.0.1", "10.9.0.2", b"crafted!"),
    "v4-to-another": ipv4("10.9.0.1", OTHER, b"crafted!"),
    "v6": ipv6("fd09::1", "fd09::2", b"crafted!"),
    "v6-link-local": ipv6("fe80::1", "fe80::2", b"crafted!"),
    "v6-39-bytes": ipv6("fd09::1", "fd09::2", b"")[:39],
    "v6-40-bytes": ipv6("fd09::1", "fd09::2", b""),
    "ping": PING,
    "ping-cut": PING[:15],
    "ping-longer": PING + b"\0",
    "ping-changed": PING[:15] + b"\0",
}


@probes("traffic/inside-out")
def crafted() -> Iterator[Answer]:
    """Each with the next packet id."""
    with ground() as there:
        for mode in ("p2p", "mp"):
            made = there.tunnel(mode)
            # The right end's receiving direction, see Ground.tunnel.
            seal = Seal(direction(32, 1))
            watch = Watch(made)
            for number, (what, inside) in enumerate(INSIDE.items(), 1):
                record = seal.record(inside, number, 1)
                yield f"{mode}/{what}", watch.during(lambda: made.deliver(record))
            # Without a peer id, from where the peer is and from elsewhere.
            nameless = [seal.record(GOOD, 1000 + number, NO_ID) for number in range(2)]
            yield f"{mode}/no-peer-id", watch.during(lambda: made.deliver(nameless[0]))
            with there.left.inside():
                elsewhere = udp_socket(ELSEWHERE4)
            yield f"{mode}/no-peer-id-elsewhere", watch.during(lambda: made.deliver(nameless[1], elsewhere))
            elsewhere.close()
            largest = seal.record(GOOD, 0xFFFFFFFF, 1)
            yield f"{mode}/largest-packet-id", watch.during(lambda: made.deliver(largest))
            yield f"{mode}/and-again", watch.during(lambda: made.deliver(largest))
            after = seal.record(GOOD, 1, 1)
            yield f"{mode}/id-1-after-it", watch.during(lambda: made.deliver(after))
            made.close()
