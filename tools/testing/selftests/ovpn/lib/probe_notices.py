# SPDX-License-Identifier: GPL-2.0
"""What userspace is told unasked: in which words, and in which namespace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import ask
import family as ov
import link
import nl
from ask import peer
from endpoint import Endpoint, keepalive, multipeer, point_to_point, udp_socket, vpn
from family import Cmd, Peer
from ground import ELSEWHERE4, LEFT6, RIGHT6, Ground
from namespace import Namespace
from probe import Answer, probes
from probe_peers import identity, space

REMOTE = (ask.REMOTE, 1194)


class Ears:
    """Listens to the family in a namespace."""

    def __init__(self, there: Namespace) -> None:
        with there.inside():
            self._family = ov.Family()
        self._family.listen()

    def heard(self, patience: float = 0.5) -> list[dict[str, Any]]:
        """All that is heard until it is silent, sorted: peers are deleted in any order."""
        found = []
        with contextlib.suppress(TimeoutError):
            while True:
                one = self._family.notification(patience)
                patience = 0.5
                words = {"peer": one.peer, "key": one.key}
                told = {what: [[n, v.hex()] for n, v in attrs.items()] for what, attrs in words.items()}
                found.append({"command": one.command, **told})
        return sorted(found, key=str)

    def close(self) -> None:
        """Listens no more."""
        self._family.close()


@probes("notice")
def deletions() -> Iterator[Answer]:
    """Each reason that a peer can be deleted for, save those of TCP."""
    with space() as there:
        ears = Ears(there)
        end = multipeer(there)
        for number in range(1, 4):
            end.peer_new(number, REMOTE, vpn(f"10.0.0.{number}"))
        yield "made", ears.heard()
        end.family.peer(Cmd.PEER_SET, end.index, identity(1), keepalive(5, 9), vpn("10.0.0.9"))
        yield "changed", ears.heard()
        end.key_new(1, "AES-256-GCM", (1, 2))
        end.family.key_swap(end.index, 1)
        yield "keys", ears.heard()
        end.family.peer_del(end.index, 1)
        yield "deleted", ears.heard()
        end.family.peer(Cmd.PEER_SET, end.index, identity(2), keepalive(1, 1))
        yield "expired", ears.heard(5)
        end.socket.close()
        yield "socket-closed", ears.heard(2)
        end.close()
        yield "empty-link-deleted", ears.heard()
        end = multipeer(there)
        for number in range(1, 4):
            end.peer_new(number, REMOTE, vpn(f"10.0.0.{number}"))
        with there.inside():
            link.delete("mp0")
        yield "link-deleted", ears.heard()
        end.outlive()
        end = point_to_point(there)
        end.peer_new(1, REMOTE)
        end.peer_new(1, REMOTE)
        yield "replaced-by-same-id", ears.heard()
        end.peer_new(2, REMOTE)
        yield "replaced", ears.heard()
        end.close()
        yield "p2p-link-deleted", ears.heard()
        ears.close()


@probes("notice/float")
def floats() -> Iterator[Answer]:
    """Of IPv4 and IPv6, from multipeer and from peer to peer."""
    there = Ground()
    there.left.ip("address", "add", "2001:db8::11/64", "dev", "va", "nodad")
    for mode in ("p2p", "mp"):
        made = there.tunnel(mode)
        ears = Ears(there.right)
        for what, address, port in (("address", ELSEWHERE4, 4444), ("port", ELSEWHERE4, 4445), ("back", ELSEWHERE4, 4444)):
            with there.left.inside():
                elsewhere = udp_socket(address, port)
            for count in ("first", "second"):
                made.deliver(made.record(b"moved"), elsewhere)
                yield f"{mode}/{what}-{count}", ears.heard()
            elsewhere.close()
        ears.close()
        made.close()
    yield from floats6(there)
    there.close()


def floats6(there: Ground) -> Iterator[Answer]:
    """The right end is reached over IPv6, also from a link-local address."""
    with there.left.inside():
        tap = udp_socket(LEFT6, 5555)
    left = Endpoint(there.left, "tun-left", "p2p", LEFT6)
    right = Endpoint(there.right, "tun-right", "mp", "::")
    left.peer_new(2, (LEFT6, 5555), nl.u32(Peer.TX_ID, 1))
    right.peer_new(1, (LEFT6, 5555), vpn("10.9.0.1"))
    left.key_new(2, "AES-256-GCM", (1, 2))
    right.key_new(1, "AES-256-GCM", (2, 1))
    left.up("10.9.0.1/24")
    right.up("10.9.0.2/24")
    ears = Ears(there.right)
    with there.left.inside():
        inner = udp_socket("10.9.0.1")
        other = udp_socket("2001:db8::11", 5556)
    for what, over in {"v6-same": tap, "v6-other": other}.items():
        inner.sendto(b"moved", ("10.9.0.2", 9))
        over.sendto(tap.recv(65535), (RIGHT6, right.port()))
        yield what, ears.heard()
        told = ask.ask(right, Cmd.PEER_GET, ask.index(right), peer(identity(1)))
        yield f"{what}-remote", [words for words in told["answers"][0][0][1] if words[0] in (3, 4, 5, 11)]
    for made in (inner, other, tap, ears):
        made.close()
    left.close()
    right.close()


@probes("netns")
def elsewhere() -> Iterator[Answer]:
    """Link and socket are in different namespaces."""
    with space() as there:
        home = Namespace("ovpn-parity-2")
        near, far = Ears(there), Ears(home)
        end = multipeer(there)
        with home.inside():
            over = udp_socket("127.0.0.1", 5557)
        attrs = [identity(1), nl.u32(Peer.SOCKET, over.fileno()), ask.remote(ask.REMOTE), vpn("10.0.0.1")]
        yield "made", ask.ask(end, Cmd.PEER_NEW, ask.index(end), peer(*attrs))
        answer = ask.ask(end, Cmd.PEER_GET, ask.index(end), peer(identity(1)))
        yield "shown", answer
        yield "dumped", ask.ask(end, Cmd.PEER_GET, ask.index(end), dump=True)
        with home.inside():
            asking = ov.Family()
        try:
            asking.peer_get(end.index, 1)
            yield "asked-from-there", 0
        except nl.NetlinkError as error:
            yield "asked-from-there", error.errno
        asking.close()
        end.family.peer_del(end.index, 1)
        yield "deleted-here", near.heard()
        yield "deleted-there", far.heard()
        ask.ask(end, Cmd.PEER_NEW, ask.index(end), peer(*attrs))
        home.delete()
        yield "namespace-named-no-more", near.heard()
        over.close()
        yield "closed", [near.heard(), far.heard(2)]
        for made in (near, far, end):
            made.close()
