# SPDX-License-Identifier: GPL-2.0
"""The same packets and records, and what both ends count of them."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import family as ov
import nl
from endpoint import Endpoint, keepalive, udp_socket, vpn
from ground import Ground
from probe import Answer, probes
from wiretap import DATA_V1, Tunnel, flipped

TRAFFIC = range(ov.Peer.VPN_RX_BYTES, ov.Peer.LINK_TX_PACKETS + 1)
UNDEFINED = b"\xff\xff\xff"
SOL_UDP, UDP_SEGMENT = 17, 103


def counted(end: Endpoint, peer: int) -> dict[str, int]:
    """All counters of an end, by name."""
    shown = json.loads(end.space.ip("-s", "-j", "link", "show", "dev", end.name))[0]["stats64"]
    counts = {f"{way} {name}": n for way in ("rx", "tx") for name, n in shown[way].items()}
    with contextlib.suppress(nl.NetlinkError):
        told = end.get(peer)
        counts |= {ov.Peer(kind).name.lower(): nl.number(told[kind]) for kind in TRAFFIC}
    return counts


class Watch:
    """What changes at both ends while something is done."""

    def __init__(self, made: Tunnel) -> None:
        self.made = made

    def during(self, action: Callable[[], object]) -> dict[str, Any]:
        """Counters that changed, and what came out on the right."""
        before = self._counts()
        action()
        out = self._come_out()
        after = self._counts()
        changes: dict[str, Any] = {"inside": out[0], "to the daemon": out[1]}
        for side, counts in after.items():
            changes[side] = {n: v - before[side].get(n, 0) for n, v in counts.items() if v != before[side].get(n, 0)}
        return changes

    def _counts(self) -> dict[str, dict[str, int]]:
        return {"left": counted(self.made.left, 2), "right": counted(self.made.right, 1)}

    def _come_out(self) -> tuple[list[str], list[str]]:
        """Payloads that reached the inner socket, and datagrams that reached the daemon's."""
        return drained(self.made.target, 0.1), drained(self.made.right.socket, 0.02)


def drained(over: socket.socket, patience: float) -> list[str]:
    """The lengths and beginnings of what is there."""
    found = []
    over.settimeout(patience)
    with contextlib.suppress(TimeoutError, BlockingIOError):
        while True:
            got = over.recv(65535)
            found.append(f"{len(got)}:{got[:8].hex()}")
    over.settimeout(5)
    return found


def key_of(record: bytes, number: int) -> bytes:
    """The record under another key id."""
    return bytes([record[0] & 0xF8 | number]) + record[1:]


def peer_of(record: bytes, number: bytes) -> bytes:
    """The record for another peer."""
    return record[:1] + number + record[4:]


# What is done with a record before it is delivered.
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "good": lambda record: record,
    "tag": lambda record: flipped(record, 8),
    "payload": lambda record: flipped(record, 30),
    "packet-id": lambda record: flipped(record, 7, 0x40),
    "packet-id-0": lambda record: record[:4] + bytes(4) + record[8:],
    "unknown-key": lambda record: key_of(record, 5),
    "unknown-peer": lambda record: peer_of(record, b"\0\0\x4d"),
    "undefined-peer": lambda record: peer_of(record, UNDEFINED),
    "data-v1": lambda record: bytes([DATA_V1 << 3]) + record[1:],
    "control": lambda record: bytes([4 << 3]) + record[1:],
    "opcode-0": lambda record: bytes([0]) + record[1:],
    "opcode-31": lambda record: bytes([31 << 3]) + record[1:],
    **{f"cut-to-{n}": (lambda record, n=n: record[:n]) for n in (1, 2, 3, 4, 5, 7, 8, 23, 24, 25, 40)},
    "longer": lambda record: record + b"x",
}


@probes("traffic/record")
def records() -> Iterator[Answer]:
    """One of each, then the same once more, which is a replay."""
    with ground() as there:
        for mode in ("p2p", "mp"):
            made = there.tunnel(mode)
            watch = Watch(made)
            for what, change in CHANGES.items():
                record = made.record(b"traffic " * 4)
                yield f"{mode}/{what}", watch.during(lambda: made.deliver(change(record)))
                yield f"{mode}/{what}-again", watch.during(lambda: made.deliver(change(record)))
            yield f"{mode}/empty", watch.during(lambda: made.deliver(b""))
            made.close()


@probes("traffic/sent")
def sent() -> Iterator[Answer]:
    """By the left end, from inside."""
    with ground() as there:
        for mode in ("p2p", "mp"):
            made = there.tunnel(mode)
            watch = Watch(made)
            for size in (0, 1, 100, 1000, 1388, 1389, 3000):
                yield f"{mode}/{size}", watch.during(lambda: made.source.sendto(bytes(size), ("10.9.0.2", 7777)))
                yield f"{mode}/{size}-passed-on", watch.during(lambda: passed_on(made))
            yield f"{mode}/answer", watch.during(lambda: made.target.sendto(b"answer", ("10.9.0.1", 9)))
            drained(made.tap, 0.1)
            yield f"{mode}/to-nobody", watch.during(lambda: made.target.sendto(b"hello?", ("10.9.0.77", 9)))
            drained(made.tap, 0.1)
            yield f"{mode}/burst", watch.during(lambda: burst(made))
            yield f"{mode}/burst-passed-on", watch.during(lambda: passed_on(made))
            yield f"{mode}/not-ip", watch.during(lambda: raw(made, b"\x88\xb5", bytes(40)))
            yield f"{mode}/short-ip", watch.during(lambda: raw(made, b"\x08\x00", b"\x45" + bytes(9)))
            yield f"{mode}/false-ip", watch.during(lambda: raw(made, b"\x08\x00", b"\x60" + bytes(39)))
            yield f"{mode}/short-ipv6", watch.during(lambda: raw(made, b"\x86\xdd", b"\x60" + bytes(20)))
            drained(made.tap, 0.1)
            made.left.family.key_del(made.left.index, 2, ov.Slot.PRIMARY)
            yield f"{mode}/no-key", watch.during(lambda: made.source.sendto(b"lost", ("10.9.0.2", 7777)))
            made.left.family.peer_del(made.left.index, 2)
            yield f"{mode}/no-peer", watch.during(lambda: tried(made))
            made.close()


def tried(made: Tunnel) -> None:
    """Without a peer a link has no carrier, and the stack may say so."""
    with contextlib.suppress(OSError):
        made.source.sendto(b"lost", ("10.9.0.2", 7777))


def passed_on(made: Tunnel) -> None:
    """Delivers whatever the tap holds."""
    made.tap.settimeout(0.1)
    with contextlib.suppress(TimeoutError):
        while True:
            made.deliver(made.tap.recv(65535))
    made.tap.settimeout(5)


def burst(made: Tunnel) -> None:
    """Ten datagrams by one call."""
    ancillary = [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 500))]
    made.source.sendmsg([bytes(5000)], ancillary, 0, ("10.9.0.2", 7777))


def raw(made: Tunnel, kind: bytes, packet: bytes) -> None:
    """A packet as it is, out of the left end."""
    with made.left.space.inside():
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    with sender, contextlib.suppress(OSError):
        sender.sendto(packet, (made.left.name, int.from_bytes(kind), 0, 0, b""))


@probes("traffic/inside")
def inside() -> Iterator[Answer]:
    """From an address that is not the peer's, and to one behind it."""
    with ground() as there:
        made = there.tunnel("mp")
        watch = Watch(made)
        for what, address in {"another": "10.9.0.66", "its-own": "10.9.0.1"}.items():
            change = [nl.u32(ov.Peer.ID, 1), vpn(address)]
            made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, *change)
            record = made.record(b"whose am I")
            yield f"from-{what}", watch.during(lambda: made.deliver(record))
        there.right.ip("route", "add", "198.51.100.0/24", "via", "10.9.0.1", "dev", "tun-right")
        with there.right.inside():
            behind = udp_socket("10.9.0.2")
        yield "to-behind", watch.during(lambda: behind.sendto(b"behind", ("198.51.100.7", 9)))
        behind.close()
        made.close()


@probes("traffic/float")
def floating() -> Iterator[Answer]:
    """The right end's view of its peer after records from elsewhere."""
    with ground() as there:
        for mode in ("p2p", "mp"):
            made = there.tunnel(mode)
            watch = Watch(made)
            with there.left.inside():
                elsewhere = udp_socket("192.0.2.11", 4444)
            for what, change in {"forged": lambda record: flipped(record, 30), "good": lambda record: record}.items():
                record = change(made.record(b"moved"))
                yield f"{mode}/{what}", watch.during(lambda: made.deliver(record, elsewhere))
                told = made.right.get(1)
                yield f"{mode}/{what}-remote", [ov.address(told[ov.Peer.REMOTE_IPV4]), ov.address(told[ov.Peer.LOCAL_IPV4])]
            elsewhere.close()
            made.close()


@probes("traffic/keepalive")
def idle() -> Iterator[Answer]:
    """One keepalive out of the left end and into the right one."""
    with ground() as there:
        made = there.tunnel()
        watch = Watch(made)
        before = counted(made.left, 2)
        peer = nl.u32(ov.Peer.ID, 2)
        made.left.family.peer(ov.Cmd.PEER_SET, made.left.index, peer, keepalive(1, 60))
        record = made.tap.recv(65535)
        made.left.family.peer(ov.Cmd.PEER_SET, made.left.index, peer, keepalive(0, 0))
        after = counted(made.left, 2)
        yield "sent", {n: v - before[n] for n, v in after.items() if v != before[n]}
        yield "received", watch.during(lambda: made.deliver(record))
        made.close()


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """Two namespaces for a while."""
    there = Ground()
    try:
        yield there
    finally:
        there.close()
