#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The way of records under the tunnel: which route, from which address, in which pieces.

Two cables join the two namespaces. The right end sends; at the left end a tap says which
address a record came from, and the cables' counters which way it went.
"""

from __future__ import annotations

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import Endpoint, close_all, udp_socket, vpn
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import load_module
from pace import wait_for

IS_OURS = os.environ.get("OVPN_MODULE_KIND", "rust") == "rust"
SO_MARK, SO_BINDTODEVICE = 36, 25
TABLE, MARK = "100", 66
# The right end's other addresses, on the cable that both share.
SECOND4, SECOND6 = "192.0.2.22", "2001:db8::22"
LINK_LOCAL = "fe80::aa"
# Bytes of a packet inside that is not mistaken for anything else.
LONG = 1000

load_module()
GROUND = Ground()
LEFT, RIGHT = GROUND.left, GROUND.right


def second_cable() -> None:
    """And addresses of the first one that are reached over it as well."""
    LEFT.ip("link", "add", "va2", "type", "veth", "peer", "name", "vb2", "netns", RIGHT.name)
    for space, first, name, number in ((LEFT, "va", "va2", 1), (RIGHT, "vb", "vb2", 2)):
        space.ip("address", "add", f"198.51.100.{number}/24", "dev", name)
        space.ip("address", "add", f"2001:db8:2::{number}/64", "dev", name, "nodad")
        space.ip("link", "set", name, "up")
        for link in ("all", first, name):
            space.run("sysctl", "-qw", f"net.ipv4.conf.{link}.rp_filter=0")
    for link in ("va", "va2"):
        LEFT.ip("address", "add", f"{LINK_LOCAL}/64", "dev", link, "nodad")
    RIGHT.ip("address", "add", f"{SECOND4}/24", "dev", "vb")
    RIGHT.ip("address", "add", f"{SECOND6}/64", "dev", "vb", "nodad")
    RIGHT.ip("route", "add", LEFT4, "via", "198.51.100.1", "dev", "vb2", "table", TABLE)
    RIGHT.ip("-6", "route", "add", LEFT6, "via", "2001:db8:2::1", "dev", "vb2", "table", TABLE)


class Sender:
    """The right end, whose peer is a tap at the left."""

    def __init__(self, bind: str, remote: str, *extra: bytes) -> None:
        with LEFT.inside():
            self.tap = udp_socket("::" if ":" in remote else "0.0.0.0")
        self.end = Endpoint(RIGHT, "tun-right", "mp", bind)
        place = (remote, self.tap.getsockname()[1])
        self.end.peer_new(1, place, vpn("10.9.0.1"), nl.u32(ov.Peer.TX_ID, 2), *extra)
        self.end.key_new(1, "AES-128-GCM", (2, 1))
        self.end.up("10.9.0.2/24")
        with RIGHT.inside():
            self.inner = udp_socket("10.9.0.2")

    def option(self, name: int, value: int | bytes) -> None:
        """Sets an option of the socket that carries the tunnel."""
        self.end.socket.setsockopt(socket.SOL_SOCKET, name, value)

    def sends(self, size: int = 100) -> tuple[str, str]:
        """Sends a packet; from where and over which cable its record came."""
        before = counted()
        self.inner.sendto(bytes(size), ("10.9.0.1", 9))
        record, source = self.tap.recvfrom(65535)
        ktap.equal("length of the record", len(record), size + 28 + 24)
        after = counted()
        # Packets that ask for a neighbour are shorter than a long record.
        used = [link for link in after if after[link] - before[link] >= LONG]
        return source[0], "+".join(used)

    def local(self) -> str:
        """The local address that the driver says it uses."""
        told = self.end.get(1)
        kind = ov.Peer.LOCAL_IPV4 if ov.Peer.LOCAL_IPV4 in told else ov.Peer.LOCAL_IPV6
        return ov.address(told[kind])

    def close(self) -> None:
        """All of it."""
        for made in (self.inner, self.tap, self.end):
            made.close()


def counted() -> dict[str, int]:
    """Bytes that the cables carried."""
    names = ("vb", "vb2")
    files = [f"/sys/class/net/{name}/statistics/tx_bytes" for name in names]
    return {name: int(value) for name, value in zip(names, RIGHT.run("cat", *files).split())}


def cable(made: Sender) -> str:
    """The cable of the second of two records: the first may have asked for a neighbour."""
    made.sends(LONG)
    return made.sends(LONG)[1]


WAYS = {4: LEFT4, 6: LEFT6}


@ktap.case("records carry the socket's mark: routing by it holds for them, also when it changes")
def mark() -> None:
    """IPv4 and IPv6."""
    for family in ("-4", "-6"):
        RIGHT.ip(family, "rule", "add", "fwmark", str(MARK), "lookup", TABLE)
    for version, remote in WAYS.items():
        made = Sender("::" if version == 6 else "0.0.0.0", remote)
        for count in range(3):
            ktap.equal(f"IPv{version} unmarked, {count}", cable(made), "vb")
            made.option(SO_MARK, MARK)
            ktap.equal(f"IPv{version} marked, {count}", cable(made), "vb2")
            made.option(SO_MARK, 0)
        made.close()
    for family in ("-4", "-6"):
        RIGHT.ip(family, "rule", "delete", "fwmark", str(MARK), "lookup", TABLE)


@ktap.case("records leave by the device that the socket is bound to, also when that changes")
def bound_device() -> None:
    """The in-tree driver looks at it in the handshake only."""
    if not IS_OURS:
        ktap.note("not so with the in-tree driver, see Documentation/parity.md")
        return
    RIGHT.ip("route", "add", LEFT4, "via", "198.51.100.1", "dev", "vb2", "metric", "500")
    RIGHT.ip("-6", "route", "add", LEFT6, "via", "2001:db8:2::1", "dev", "vb2", "metric", "2048")
    RIGHT.ip("-6", "route", "add", LEFT6, "dev", "vb", "metric", "1")
    RIGHT.ip("route", "add", LEFT4, "dev", "vb", "metric", "1")
    for version, remote in WAYS.items():
        made = Sender("::" if version == 6 else "0.0.0.0", remote)
        ktap.equal(f"IPv{version}, bound to nothing", cable(made), "vb")
        for name in ("vb2", "vb", "vb2"):
            made.option(SO_BINDTODEVICE, name.encode() + b"\0")
            ktap.equal(f"IPv{version}, bound to {name}", cable(made), name)
        made.close()
    RIGHT.ip("route", "delete", LEFT4, "metric", "500")
    RIGHT.ip("-6", "route", "delete", LEFT6, "metric", "2048")
    RIGHT.ip("-6", "route", "delete", LEFT6, "metric", "1")
    RIGHT.ip("route", "delete", LEFT4, "metric", "1")


@ktap.case("a change of the routes is followed by the next record")
def routes() -> None:
    """A more specific route comes and goes."""
    for version, remote in WAYS.items():
        made = Sender("::" if version == 6 else "0.0.0.0", remote)
        via = ("via", "2001:db8:2::1" if version == 6 else "198.51.100.1", "dev", "vb2")
        for _ in range(2):
            ktap.equal(f"IPv{version} before", cable(made), "vb")
            RIGHT.ip(f"-{version}", "route", "add", remote, *via)
            ktap.equal(f"IPv{version} with the route", cable(made), "vb2")
            RIGHT.ip(f"-{version}", "route", "delete", remote, *via)
        made.close()


@ktap.case("records come from the local address that the daemon named")
def named_local() -> None:
    """Also when that is not what the route would choose."""
    for remote, local in ((LEFT4, SECOND4), (LEFT6, SECOND6)):
        where = ov.address_attr(local, ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6)
        made = Sender("::" if ":" in remote else "0.0.0.0", remote, where)
        for _ in range(3):
            ktap.equal("source", made.sends()[0], local)
        ktap.equal("local address", made.local(), local)
        made.close()


@ktap.case("a local address that goes away is replaced, and traffic goes on")
def lost_local() -> None:
    """Within one record; with routes remembered and without."""
    for remote, local, other, mask in ((LEFT4, SECOND4, RIGHT4, 24), (LEFT6, SECOND6, RIGHT6, 64)):
        for used_before in (True, False):
            where = ov.address_attr(local, ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6)
            made = Sender("::" if ":" in remote else "0.0.0.0", remote, where)
            if used_before:
                ktap.equal("source", made.sends()[0], local)
            RIGHT.ip("address", "delete", f"{local}/{mask}", "dev", "vb")
            ktap.equal("source without the address", made.sends()[0], other)
            ktap.equal("and again", made.sends()[0], other)
            told = made.local()
            if told not in ("0.0.0.0", "::", other):
                ktap.fail(f"{told} is still told as local address")
            made.close()
            extra = ("nodad",) if ":" in local else ()
            RIGHT.ip("address", "add", f"{local}/{mask}", "dev", "vb", *extra)


@ktap.case("an answer comes from the address that the peer sent to")
def learned_local() -> None:
    """Each record of the peer may teach another one."""
    made = GROUND.tunnel("mp", "AES-128-GCM")
    made.right.close()
    for version, remote, addresses in ((4, LEFT4, (RIGHT4, SECOND4)), (6, LEFT6, (RIGHT6, SECOND6))):
        sender = Sender("::" if version == 6 else "0.0.0.0", remote)
        for number in range(6):
            there = addresses[number % 2]
            record = made.record(b"to you")
            sender.tap.sendto(record, (there, sender.end.port()))
            wait_for(lambda: sender.local() == there, f"the local address is not {there}")
            ktap.equal("source of the answer", sender.sends()[0], there)
        sender.close()
    for left in (made.source, made.target, made.tap, made.left):
        left.close()


@ktap.case("records longer than the device below allows are sent in fragments")
def fragments() -> None:
    """Inner sizes around the limit, over IPv4 and IPv6; nothing is lost, no error is seen."""
    for link, space in (("va", LEFT), ("vb", RIGHT)):
        space.ip("link", "set", link, "mtu", "1300")
    for version, remote in WAYS.items():
        made = Sender("::" if version == 6 else "0.0.0.0", remote)
        RIGHT.ip("link", "set", "tun-right", "mtu", "9000")
        for size in (0, 1, 1000, *range(1168, 1252, 7), 1300, 1400, 3000, 8900):
            made.sends(size)
        ktap.equal("drops", made.end.counter("tx_dropped"), 0)
        made.close()
    for link, space in (("va", LEFT), ("vb", RIGHT)):
        space.ip("link", "set", link, "mtu", "1500")


@ktap.case("a link-local peer is reached by the link of its scope id")
def scope() -> None:
    """The same address is on both cables; PEER_SET takes the peer to the other one."""
    with RIGHT.inside():
        cables = {name: socket.if_nametoindex(name) for name in ("vb", "vb2")}
    for first, second in (("vb", "vb2"), ("vb2", "vb")):
        made = Sender("::", LINK_LOCAL, nl.u32(ov.Peer.REMOTE_IPV6_SCOPE_ID, cables[first]))
        ktap.equal("cable", cable(made), first)
        change = [
            nl.u32(ov.Peer.ID, 1),
            ov.address_attr(LINK_LOCAL, ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6),
            nl.be16(ov.Peer.REMOTE_PORT, made.tap.getsockname()[1]),
            nl.u32(ov.Peer.REMOTE_IPV6_SCOPE_ID, cables[second]),
        ]
        made.end.family.peer(ov.Cmd.PEER_SET, made.end.index, *change)
        ktap.equal("cable after the change", cable(made), second)
        told = made.end.get(1)
        ktap.equal("scope id", nl.number(told[ov.Peer.REMOTE_IPV6_SCOPE_ID]), cables[second])
        made.close()


@ktap.case("a socket of IPv4 sends nothing to an IPv6 address, and that is counted")
def wrong_family() -> None:
    """The peer is there, made or moved so; back at an IPv4 address it works."""
    if not IS_OURS:
        ktap.skip("the in-tree driver follows a null pointer there")
    made = Sender("0.0.0.0", LEFT6)
    there = ov.address_attr(LEFT6, ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6)
    port = made.tap.getsockname()[1]
    back = ov.address_attr(LEFT4, ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6)
    for count in (1, 2):
        made.inner.sendto(bytes(100), ("10.9.0.1", 9))
        ktap.equal("packets without a route", made.end.drops()["tx_drop_no_route"], count)
        for address in (back, there):
            attrs = [nl.u32(ov.Peer.ID, 1), address, nl.be16(ov.Peer.REMOTE_PORT, port)]
            made.end.family.peer(ov.Cmd.PEER_SET, made.end.index, *attrs)
            if address == back:
                made.inner.sendto(bytes(100), ("10.9.0.1", 9))
                # The tap is one of IPv6, for both.
                ktap.equal("length of the record", len(made.tap.recv(65535)), 100 + 28 + 24)
    made.close()


if __name__ == "__main__":
    second_cable()
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
