# SPDX-License-Identifier: GPL-2.0
"""A receiving end, and a sender that is no tunnel but sends whatever it is told to.

All that is sent at once arrives at once, so what may be put together is.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterable, Iterator

import family as ov
import inner
import ktap
import nl
from aggregate import Gate, arriving, gather, send_cut
from capture import ETH_P_ALL, PACKET_VNET_HDR, SO_RCVBUFFORCE, SOL_PACKET
from endpoint import Endpoint, udp_socket, vpn
from ground import Ground
from namespace import Namespace
from pair import TRANSPORT
from sealer import CIPHER, Sealer

IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
# After many that came alone only one record in so many waits for more.
PROBE = 8
PEER = 1
SENDING, RECEIVING = 2, 1


class Delivered:
    """Packets that a tunnel's link has received, as they were sent."""

    def __init__(self, space: Namespace, link: str, raw: bool = False) -> None:
        with space.inside():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 0 if raw else 1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self._socket.bind((link, ETH_P_ALL))

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def raw(self, patience: float = 0.3) -> Iterator[bytes]:
        """Each packet that came up, as it is."""
        self._socket.settimeout(patience)
        with contextlib.suppress(TimeoutError):
            while True:
                packet, address = self._socket.recvfrom(1 << 17)
                if address[2] == socket.PACKET_HOST:
                    yield packet

    def pieces(self, same_ids: bool = False) -> Iterator[list[bytes]]:
        """Each packet that came up, as the list of packets that it stands for."""
        return (inner.recut(packet, same_ids) for packet in self.raw())


class Stage:
    """A receiving end named tun-right with one peer, and the sender."""

    def __init__(
        self, ground: Ground, mode: str = "p2p", over: int = 4, ends: tuple[str, str] | None = None
    ) -> None:
        here, there = ends or TRANSPORT[over]
        gather(ground)
        self.ground, self.over = ground, over
        with ground.left.inside():
            self.socket = udp_socket(here)
        if over == 4:
            # Else the kernel may leave out some ids, and what does not continue is not put together.
            self.socket.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        self.right = Endpoint(ground.right, "tun-right", mode, there)
        self.right.socket.settimeout(1)
        # Nothing answers what is delivered: the addresses have the last octet 1 and 2.
        self.right.up("10.9.0.2/24", "fd09::2/64")
        self.to: tuple[str, int] | tuple[str, int, int, int] = (there, self.right.port())
        # A peer of many has to have an address of its own.
        self.sealer = self.peer(PEER, *[vpn("10.9.0.1")] * (mode == "mp"))
        self.delivered = Delivered(ground.right, "tun-right")
        self.gate = Gate(ground.left, "va", TRANSPORT[over][1])
        # The neighbour must be known, or the first ones would wait for it elsewhere.
        if there != "::":
            ground.left.meets(there.replace("%vb", "%va"))
        self._before = self.right.drops()
        # Whether all segments of a long packet have one IPv4 id; a tap is not told.
        self.same_ids = False

    def close(self) -> None:
        """Everything that was made."""
        for made in (self.delivered, self.socket, self.gate, self.right):
            made.close()

    def peer(self, peer_id: int, *extra: bytes, over: socket.socket | None = None) -> Sealer:
        """A peer whose records the sender makes."""
        remote = plain((over or self.socket).getsockname())
        self.right.peer_new(peer_id, remote, nl.u32(ov.Peer.TX_ID, 2), *extra)
        self.right.key_new(peer_id, CIPHER, (SENDING, RECEIVING))
        return Sealer(peer_id, RECEIVING)

    def sealed(self, packets: Iterable[bytes]) -> list[bytes]:
        """Their records."""
        return [self.sealer.seal(packet) for packet in packets]

    def drops(self, **wanted: int) -> None:
        """Exactly these drops must have been counted since the last time, on the link as well."""
        now = self.right.drops()
        seen = {name: now[name] - self._before[name] for name in now if now[name] != self._before[name]}
        self._before = now
        ktap.equal("drops", seen, {f"rx_drop_{name}": count for name, count in wanted.items()})

    def burst(self, datagrams: list[bytes], pieces: int | None) -> None:
        """Sends them at once; they must arrive in so many pieces, or in fewer than they are."""
        with arriving(self.ground.right, over=self.over) as seen:
            with self.gate.held():
                for datagram in datagrams:
                    self.socket.sendto(datagram, self.to)
        if pieces is not None:
            ktap.equal(f"{len(datagrams)} datagrams arrived in pieces", seen.pieces, pieces)
        elif seen.pieces >= len(datagrams):
            ktap.fail(f"{len(datagrams)} datagrams arrived one by one")

    def cut(self, records: list[bytes], pieces: int) -> None:
        """The same for records of one size, which are cut below."""
        with arriving(self.ground.right, over=self.over) as seen:
            send_cut(self.socket, records, self.to)
        ktap.equal(f"{len(records)} records arrived in pieces", seen.pieces, pieces)

    def arrives(
        self, packets: list[bytes], pieces: int | None = None, astray: list[bytes] | None = None
    ) -> None:
        """These packets must come out, each flow's in order, of so many pieces, and nothing else.

        Those that have gone astray come out, too, but GRO lets them overtake what it holds.
        """
        got = list(self.delivered.pieces(self.same_ids))
        ordered = sorted((packet for piece in got for packet in piece), key=inner.flow)
        for one in astray or ():
            if one not in ordered:
                ktap.fail(f"did not come out: {one.hex()}")
            ordered.remove(one)
        for number, (one, wanted) in enumerate(zip(ordered, sorted(packets, key=inner.flow))):
            ktap.equal(f"inner packet {number}, by flows", one.hex(), wanted.hex())
        ktap.equal("inner packets", len(ordered), len(packets))
        if pieces is not None:
            ktap.equal("pieces that the inner packets came in", len(got), pieces)

    def passes(self, packets: list[bytes], pieces: int | None = 1, inner_pieces: int | None = None) -> None:
        """All at once, all of them good."""
        self.burst(self.sealed(packets), pieces)
        self.arrives(packets, inner_pieces)
        self.drops()

    def aligned(self) -> None:
        """The next record is one that waits even after many that came alone."""
        self.sealer.last |= PROBE - 1

    def alone(self, count: int) -> None:
        """So many records that arrive one by one."""
        packets = datagrams(count)
        with arriving(self.ground.right, over=self.over) as seen:
            for record in self.sealed(packets):
                self.socket.sendto(record, self.to)
        ktap.equal("pieces", seen.pieces, count)
        self.arrives(packets)

    def both(self, pieces: int = 1, count: int = 12) -> None:
        """What is never put together inside, and what is."""
        for packets, inner_pieces in (
            (datagrams(count), count),
            (inner.stream(count, 50), 1),
            (inner.stream(count, 50, ip=inner.Ip("fd09::1", "fd09::2")), 1),
        ):
            self.passes(packets, pieces, inner_pieces)

    def stays(self) -> None:
        """The peer must not be said to have moved, since listening began."""
        with contextlib.suppress(TimeoutError):
            ktap.fail(f"the driver says {self.right.family.notification(0.3)}")


@contextlib.contextmanager
def stage(
    ground: Ground, mode: str = "p2p", over: int = 4, ends: tuple[str, str] | None = None
) -> Iterator[Stage]:
    """A stage for the time of a block, on other addresses than usual if they are given."""
    made = Stage(ground, mode, over, ends)
    try:
        yield made
    finally:
        made.close()


def plain(name: tuple[str, int, int, int] | tuple[str, int]) -> tuple[str, int]:
    """A socket's address without what belongs to one machine only."""
    return name[0].partition("%")[0], name[1]


def datagrams(count: int, size: int = 60) -> list[bytes]:
    """Inner packets that are never put together."""
    return [inner.udp(struct.pack(">I", number) + inner.content(number, size - 4)) for number in range(count)]
