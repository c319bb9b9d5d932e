# SPDX-License-Identifier: GPL-2.0
"""Datagrams that are put together on their way in: making it happen, and seeing that it did.

A veth device does so if the sending end cuts nothing for others: no TSO, no UDP segmentation.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import flow
import ktap
from ground import Ground
from namespace import Namespace, run
from pair import Pair, Setting, switch

PRIMER_PORT = 9
# What fills a bucket of the gate: a whole frame.
FRAME, FRAME_PAYLOAD = 1514, 1472


def gather(ground: Ground) -> None:
    """From now on what goes from left to right is put together there."""
    join_on(ground.left, "va", ground.right, "vb")


def join_on(sender: Namespace, out: str, receiver: Namespace, into: str) -> None:
    """The same for any pair of devices."""
    sender.run("ethtool", "-K", out, "tso", "off", "tx-udp-segmentation", "off")
    switch(receiver, into, "gro", True)


@dataclass
class Arrived:
    """What has arrived at a device, and in how many pieces UDP got it."""

    records: int = 0
    pieces: int = 0

    def must_be_together(self, each: float = 1.25) -> None:
        """So many records a piece, or more.

        How long TCP's bursts are depends on how fast it is, which is not asked here.
        """
        if self.records < 8 or self.pieces * each > self.records:
            ktap.fail(f"{self.records} records arrived in {self.pieces} pieces, not together")

    def must_be_single(self) -> None:
        """A piece for each record; what is no datagram is a packet, too."""
        if self.records < 8 or self.pieces < self.records * 0.9:
            ktap.fail(f"{self.records} records arrived in {self.pieces} pieces")


@contextlib.contextmanager
def arriving(space: Namespace, link: str = "vb", over: int = 4) -> Iterator[Arrived]:
    """Counts what arrives meanwhile."""
    seen = Arrived()
    records, pieces = received(space, link), udp_in(space, over)
    yield seen
    seen.records, seen.pieces = received(space, link) - records, udp_in(space, over) - pieces


def received(space: Namespace, link: str) -> int:
    """Packets that a device has received."""
    return int(space.run("cat", f"/sys/class/net/{link}/statistics/rx_packets"))


def udp_in(space: Namespace, over: int = 4) -> int:
    """Datagrams that UDP got; those that were put together count as one."""
    return snmp(space, "Udp", "InDatagrams") if over == 4 else snmp6(space, "Udp6InDatagrams")


def snmp(space: Namespace, group: str, name: str) -> int:
    """A counter of IPv4 and what is above it."""
    lines = [line.split() for line in _proc(space, "snmp") if line.startswith(f"{group}:")]
    return int(dict(zip(*lines))[name])


def snmp6(space: Namespace, name: str) -> int:
    """A counter of IPv6."""
    return int(dict(line.split() for line in _proc(space, "snmp6"))[name])


def _proc(space: Namespace, name: str) -> list[str]:
    with space.inside(), open(f"/proc/thread-self/net/{name}", encoding="ascii") as file:
        return file.read().splitlines()


Kind = Callable[[Pair], int]


def kinds(setting: Setting) -> list[Kind]:
    """All kinds of flows; each says how many datagrams came out of the tunnel."""

    def udp(inner: int) -> Kind:
        return lambda made: flow.udp(made, inner, setting.mtu - (28 if inner == 4 else 48))

    def tcp(inner: int) -> Kind:
        return lambda made: flow.tcp(made, inner) or 0

    return [kind(inner) for inner in ((4, 6) if setting.mtu >= 1280 else (4,)) for kind in (tcp, udp)]


def observed(made: Pair, kind: Kind, over: int = 4) -> Arrived:
    """How the records of a flow arrived."""
    other = 10 - over
    before = udp_in(made.right.space, other)
    with arriving(made.right.space, over=over) as seen:
        inside = kind(made)
    # UDP counts what came out of the tunnel as well, if it is of the same family.
    seen.pieces -= inside - (udp_in(made.right.space, other) - before)
    return seen


class Gate:
    """Holds back what a device sends and lets it all go at once, whatever its sizes are."""

    def __init__(self, space: Namespace, link: str, target: str) -> None:
        self._space, self._link, self._target = space, link, target
        with space.inside():
            self._primer = socket.socket(
                socket.AF_INET6 if ":" in target else socket.AF_INET, socket.SOCK_DGRAM
            )
        # Else the first ones would wait for the neighbour.
        space.meets(target)

    def close(self) -> None:
        """Leaves it open."""
        self._primer.close()

    def _tbf(self, verb: str, rate: str, burst: int) -> None:
        run(
            "tc", "-n", self._space.name, "qdisc", verb, "dev", self._link, "root",
            "tbf", "rate", rate, "burst", str(burst), "limit", "4000000",
        )

    def _prime(self) -> None:
        with contextlib.suppress(OSError):
            # Nobody listens there, and the kernel says so with the next one.
            self._primer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self._primer.sendto(bytes(FRAME_PAYLOAD), (self._target, PRIMER_PORT))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """What is sent in the block goes when it ends."""
        self._tbf("replace", "80bit", FRAME)
        self._prime()
        yield
        self._tbf("change", "10gbit", 1 << 20)
        self._prime()
        run("tc", "-n", self._space.name, "qdisc", "delete", "dev", self._link, "root")


def send_cut(sender: socket.socket, datagrams: Iterable[bytes], to: tuple[str, int]) -> None:
    """Datagrams of one size in one piece, to be cut below."""
    whole = list(datagrams)
    sender.setsockopt(socket.IPPROTO_UDP, flow.UDP_SEGMENT, len(whole[0]))
    sender.sendto(b"".join(whole), to)
    sender.setsockopt(socket.IPPROTO_UDP, flow.UDP_SEGMENT, 0)
