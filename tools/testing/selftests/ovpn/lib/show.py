#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the driver says of its peers and keys, as JSON.

show.py peers LINK | show.py key LINK PEER primary|secondary
"""

from __future__ import annotations

import json
import sys

import family as ov
import link
import nl

_ADDRESSES = {
    ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6, ov.Peer.VPN_IPV4,
    ov.Peer.VPN_IPV6, ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6,
}
_PORTS = {ov.Peer.REMOTE_PORT, ov.Peer.LOCAL_PORT}


def _value(name: ov.Peer, payload: bytes) -> str | int:
    if name in _ADDRESSES:
        return ov.address(payload)
    return ov.port(payload) if name in _PORTS else nl.number(payload)


def peers(name: str) -> list[dict[str, str | int]]:
    """All peers of a link."""
    return [
        {ov.Peer(kind).name.lower(): _value(ov.Peer(kind), payload) for kind, payload in peer.items()}
        for peer in ov.Family().peer_dump(link.index(name))
    ]


def key(name: str, peer: int, slot: ov.Slot) -> dict[str, int]:
    """The key in a slot."""
    told = ov.Family().key_get(link.index(name), peer, slot)
    return {ov.Key(kind).name.lower(): nl.number(payload) for kind, payload in told.items()}


def main(arguments: list[str]) -> int:
    """The command line."""
    match arguments:
        case ["peers", name]:
            print(json.dumps(peers(name)))
        case ["key", name, peer, slot]:
            print(json.dumps(key(name, int(peer), ov.Slot[slot.upper()])))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"show.py: {error}")
