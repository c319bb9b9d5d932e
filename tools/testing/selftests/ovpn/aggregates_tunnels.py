#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tunnels of other kinds inside, outside and beside ours, all of which put packets together."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import flow
import ktap
import wireguard
from aggregate import arriving, gather
from endpoint import close_all
from ground import LEFT4, RIGHT4, Ground
from namespace import Namespace, load_module, run
from pair import INNER_LEFT, INNER_RIGHT, Pair, Setting, pair, switch

CHACHA = "CHACHA20-POLY1305"
CIPHERS = ("AES-128-GCM", CHACHA)
# Inside or outside of ours: addresses at the left and at the right end.
OTHER = {4: ("10.7.0.1", "10.7.0.2"), 6: ("fd07::1", "fd07::2")}
GUE_PORT, VXLAN_PORT, ESP_PORT, WIREGUARD_PORT = 6080, 4789, 4500, 51820
UDP_ENCAP, UDP_ENCAP_ESPINUDP = 100, 2

for module in ("vxlan", "fou", "ipip", "wireguard"):
    run("modprobe", module)
load_module()
GROUND = Ground()


def sides() -> tuple[tuple[Namespace, int, tuple[str, str], tuple[str, str]], ...]:
    """Left and right: namespace, number, and its own and the other's address outside and in ours."""
    return (
        (GROUND.left, 0, (LEFT4, RIGHT4), (INNER_LEFT[4], INNER_RIGHT[4])),
        (GROUND.right, 1, (RIGHT4, LEFT4), (INNER_RIGHT[4], INNER_LEFT[4])),
    )


def addressed(
    space: Namespace, number: int, name: str, mtu: int, families: tuple[int, ...] = (4, 6)
) -> None:
    """Brings a device up."""
    space.ip("link", "set", name, "mtu", str(mtu))
    for family in families:
        extra = ("nodad",) if family == 6 else ()
        bits = 24 if family == 4 else 64
        space.ip("address", "add", f"{OTHER[family][number]}/{bits}", "dev", name, *extra)
    space.ip("link", "set", name, "up")


@contextlib.contextmanager
def vxlan(inside: bool, mtu: int) -> Iterator[None]:
    """A VXLAN on the ground, or inside of our tunnel."""
    for space, number, outer, inner in sides():
        local, remote = inner if inside else outer
        space.ip("link", "add", "vx", "type", "vxlan", "id", "7", "local", local, "remote", remote,
                 "dstport", str(VXLAN_PORT))
        addressed(space, number, "vx", mtu)
    try:
        yield
    finally:
        for space, *_ in sides():
            space.ip("link", "delete", "vx")


@contextlib.contextmanager
def gue(inside: bool, mtu: int) -> Iterator[None]:
    """IPv4 in IPv4 in GUE."""
    for space, number, outer, inner in sides():
        local, remote = inner if inside else outer
        space.ip("fou", "add", "port", str(GUE_PORT), "gue")
        space.ip("link", "add", "gue", "type", "ipip", "local", local, "remote", remote, "encap", "gue",
                 "encap-sport", "auto", "encap-dport", str(GUE_PORT), "encap-csum")
        addressed(space, number, "gue", mtu, (4,))
    try:
        yield
    finally:
        for space, *_ in sides():
            space.ip("link", "delete", "gue")
            space.ip("fou", "del", "port", str(GUE_PORT))


def flows(address: str, size: int, count: int = 200) -> None:
    """TCP, and datagrams one by one, between two addresses of one tunnel or another."""
    flow.tcp_to(GROUND.left, GROUND.right, address)
    with GROUND.right.inside():
        target = flow.udp_socket(address)
    with GROUND.left.inside():
        source = flow.udp_socket("::" if ":" in address else "0.0.0.0")
    for number in range(count // 10):
        sent = [os.urandom(size - at) for at in range(10)]
        for one in sent:
            source.sendto(one, target.getsockname())
        for one in sent:
            if target.recv(65535) != one:
                ktap.fail(f"a datagram of round {number} is not what was sent")
    source.close()
    target.close()


def offloads() -> Iterator[None]:
    """Put together where records arrive, and cut by nobody; then as devices come by themselves."""
    gather(GROUND)
    yield
    for space, link in ((GROUND.left, "va"), (GROUND.right, "vb")):
        space.run("ethtool", "-K", link, "tso", "on", "tx-udp-segmentation", "on")
        switch(space, link, "gro", True)
    yield
    gather(GROUND)


def settings(mtu: int = 1408) -> Iterator[Setting]:
    """Ciphers, with each of the offloads. Over IPv6, whose datagrams are nobody else's here."""
    gathered = True
    for _ in offloads():
        for cipher in CIPHERS:
            yield Setting(cipher, 6, mtu, segmentation=not gathered)
        gathered = False


def no_drops(made: Pair) -> None:
    """Of what was received; the driver's own counters say why."""
    if dropped := made.right.counter("rx_dropped"):
        ktap.fail(f"{dropped} dropped: {made.right.drops()}")


@contextlib.contextmanager
def watched(made: Pair, setting: Setting) -> Iterator[None]:
    """Nothing may be dropped, and TCP's records must arrive together unless nobody cuts them."""
    with arriving(GROUND.right, over=6) as seen:
        yield
    ktap.note(f"{setting}: {seen}")
    no_drops(made)
    if not setting.segmentation:
        seen.must_be_together()


@ktap.case("VXLAN inside of ours")
def vxlan_inside() -> None:
    """TCP and UDP, IPv4 and IPv6."""
    for setting in settings():
        with pair(GROUND, setting) as made, vxlan(True, 1350), watched(made, setting):
            for family in (4, 6):
                flows(OTHER[family][1], 1200)


@ktap.case("ours inside of VXLAN")
def inside_vxlan() -> None:
    """Records are in Ethernet frames in UDP datagrams."""
    for setting in settings(1300):
        for family in (4, 6):
            with vxlan(False, 1450), pair(GROUND, setting, OTHER[family]) as made:
                through(made)


def through(made: Pair) -> None:
    """All kinds of flows through ours."""
    for family in (4, 6):
        flow.tcp(made, family)
        flow.udp(made, family, 1200)
    no_drops(made)


@ktap.case("GUE inside of ours")
def gue_inside() -> None:
    """IPv4 in it."""
    for setting in settings():
        with pair(GROUND, setting) as made, gue(True, 1350), watched(made, setting):
            flows(OTHER[4][1], 1200)


@ktap.case("ours inside of IPv4 in GUE")
def inside_gue() -> None:
    """GUE puts together what it carries, if that does."""
    for setting in settings(1300):
        with gue(False, 1450), pair(GROUND, setting, OTHER[4]) as made:
            through(made)


@ktap.case("VXLAN, GUE, WireGuard and ESP in UDP beside ours, at the same time")
def beside() -> None:
    """All of them have GRO hooks, ours is one of many; sockets of all kinds come and go."""
    gather(GROUND)
    with vxlan(False, 1400), everything() as names:
        for cipher in CIPHERS:
            with pair(GROUND, Setting(cipher, segmentation=False)) as made:
                for name, address in names:
                    ktap.note(name)
                    flows(address, 1200, 50)
                with arriving(GROUND.right) as seen:
                    flow.tcp(made, 4)
                seen.must_be_together()
                ktap.note(f"{cipher}: {seen}")
                through(made)
    gather(GROUND)


@contextlib.contextmanager
def everything() -> Iterator[list[tuple[str, str]]]:
    """GUE, WireGuard and ESP, each with an address at the right end."""
    ends = []
    for space, number, (local, remote), _ in sides():
        space.ip("fou", "add", "port", str(GUE_PORT), "gue")
        space.ip("link", "add", "gue", "type", "ipip", "local", local, "remote", remote, "encap", "gue",
                 "encap-sport", "auto", "encap-dport", str(GUE_PORT), "encap-csum")
        space.ip("address", "add", f"10.6.0.{number + 1}/24", "dev", "gue")
        space.ip("link", "set", "gue", "mtu", "1400", "up")
        ends.append(wireguard.End(space, "wg", WIREGUARD_PORT))
        space.ip("address", "add", f"10.5.0.{number + 1}/24", "dev", "wg")
        space.ip("link", "set", "wg", "up")
    ends[0].meets(ends[1], RIGHT4)
    ends[1].meets(ends[0], LEFT4)
    names = [("VXLAN", OTHER[4][1]), ("VXLAN, IPv6", OTHER[6][1]), ("GUE", "10.6.0.2"),
             ("WireGuard", "10.5.0.2")]
    sockets = esp() if esp_is_there() else []
    if sockets:
        names.append(("ESP in UDP", "10.4.0.2"))
    else:
        ktap.note("this kernel has no ESP")
    try:
        yield names
    finally:
        for made in sockets:
            made.close()
        for space, *_ in sides():
            if sockets:
                space.run("ip", "xfrm", "state", "flush")
                space.run("ip", "xfrm", "policy", "flush")
            for name in ("gue", "wg"):
                space.ip("link", "delete", name)
            space.ip("fou", "del", "port", str(GUE_PORT))


def esp_is_there() -> bool:
    """Whether the kernel has it."""
    with contextlib.suppress(RuntimeError):
        run("modprobe", "-a", "xfrm_user", "esp4")
        return True
    return False


def esp() -> list[socket.socket]:
    """A transform between two more addresses, in UDP: its sockets."""
    sockets = []
    for space, number, (local, remote), _ in sides():
        mine, others = f"10.4.0.{number + 1}", f"10.4.0.{2 - number}"
        space.ip("address", "add", f"{mine}/32", "dev", "lo")
        space.ip("route", "add", f"{others}/32", "via", remote, "src", mine)
        with space.inside():
            made = flow.udp_socket(local, ESP_PORT)
        made.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_ESPINUDP)
        sockets.append(made)
        for source, target, spi in ((local, remote, number + 1), (remote, local, 2 - number)):
            space.ip("xfrm", "state", "add", "src", source, "dst", target, "proto", "esp",
                     "spi", hex(0x1000 + spi), "mode", "tunnel", "reqid", "1",
                     "aead", "rfc4106(gcm(aes))", "0x" + "11" * 20, "128",
                     "encap", "espinudp", str(ESP_PORT), str(ESP_PORT), "0.0.0.0")
        for source, target, ends, way in (
            (mine, others, (local, remote), "out"), (others, mine, (remote, local), "in"),
        ):
            space.ip("xfrm", "policy", "add", "src", f"{source}/32", "dst", f"{target}/32", "dir", way,
                     "tmpl", "src", ends[0], "dst", ends[1], "proto", "esp", "mode", "tunnel", "reqid", "1")
    return sockets


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
