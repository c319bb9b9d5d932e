# SPDX-License-Identifier: GPL-2.0
"""Good and bad requests about peers."""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import Callable, Iterator

import ask
import family as ov
import nl
from ask import local, peer, remote
from endpoint import Endpoint, keepalive, udp_socket, vpn
from family import Cmd, Peer
from namespace import Namespace
from probe import Answer, probes

LARGEST_ID = 0xFFFFFF
NEW, SET, GET, DEL = Cmd.PEER_NEW, Cmd.PEER_SET, Cmd.PEER_GET, Cmd.PEER_DEL


def prepared(end: Endpoint) -> None:
    """Peer 1, and in multipeer mode peer 2 as well."""
    inside = [vpn("10.0.0.1"), vpn("fd00::1")] if end.name == "mp0" else []
    end.peer_new(1, (ask.REMOTE, 1194), *inside, nl.u32(Peer.TX_ID, 7), keepalive(10, 60))
    if end.name == "mp0":
        end.peer_new(2, (ask.REMOTE, 1195), vpn("10.0.0.2"), vpn("fd00::2"))


def identity(number: int) -> bytes:
    """The attribute that names a peer."""
    return nl.u32(Peer.ID, number)


# What may be wrong with any request about a peer: name, attributes of the message.
MALFORMED: dict[str, Callable[[Endpoint], list[bytes]]] = {
    "empty": lambda end: [],
    "no-interface": lambda end: [peer(identity(1))],
    "no-peer": lambda end: [ask.index(end)],
    "empty-peer": lambda end: [ask.index(end), peer()],
    "no-id": lambda end: [ask.index(end), peer(keepalive(1, 2))],
    "unknown-interface": lambda end: [nl.u32(ov.Top.IFINDEX, 9999), peer(identity(1))],
    "other-interface": lambda end: [nl.u32(ov.Top.IFINDEX, 1), peer(identity(1))],
    "short-interface": lambda end: [nl.be16(ov.Top.IFINDEX, 1), peer(identity(1))],
    "long-interface": lambda end: [nl.attr(ov.Top.IFINDEX, bytes(8)), peer(identity(1))],
    "flat-nest": lambda end: [ask.index(end), nl.attr(ov.Top.PEER, identity(1))],
    "broken-nest": lambda end: [ask.index(end), nl.nest(ov.Top.PEER, b"\x20\0\1\0\1\0\0\0")],
    "key-nest": lambda end: [ask.index(end), ask.key(nl.u32(ov.Key.PEER_ID, 1))],
    "both-nests": lambda end: [ask.index(end), peer(identity(1)), ask.key()],
    "unknown-attribute": lambda end: [ask.index(end), peer(identity(1)), nl.u32(4, 1)],
    "attribute-0": lambda end: [ask.index(end), peer(identity(1)), nl.u32(0, 1)],
    "unknown-in-peer": lambda end: [ask.index(end), peer(identity(1), nl.u32(25, 1))],
    "0-in-peer": lambda end: [ask.index(end), peer(identity(1), nl.u32(0, 1))],
    "id-too-large": lambda end: [ask.index(end), peer(identity(LARGEST_ID + 1))],
    "short-id": lambda end: [ask.index(end), peer(nl.be16(Peer.ID, 1))],
    "no-such-peer": lambda end: [ask.index(end), peer(identity(77))],
    "id-twice": lambda end: [ask.index(end), peer(identity(77), identity(78))],
    "trailing": lambda end: [ask.index(end), peer(identity(77)), b"\1\0\0\0"],
}


@probes("request")
def malformed() -> Iterator[Answer]:
    """Each command."""
    with space() as there:
        fresh = ask.Fresh(there, "mp", prepared)
        for command in (NEW, SET, GET, DEL):
            for what, attrs in MALFORMED.items():
                end = fresh.end()
                answer = ask.ask(end, command, *attrs(end))
                yield f"{named(command)}/{what}", fresh.used(answer)
        for number in Peer:
            for command in (NEW, SET, GET, DEL):
                wrong = [identity(1), remote(ask.REMOTE), nl.attr(number, b"\1")]
                answer = ask.ask(fresh.end(), command, ask.index(fresh.end()), peer(*wrong))
                yield f"{named(command)}/1-byte-{named(number)}", fresh.used(answer)
        fresh.close()


@probes("request")
def commands() -> Iterator[Answer]:
    """Commands that do not exist or are told, not asked; dumps of what cannot be dumped."""
    with space() as there:
        fresh = ask.Fresh(there, "mp", prepared)
        for command in range(14):
            end = fresh.end()
            attrs = [ask.index(end), peer(identity(77))]
            if command in (0, *range(11, 14), Cmd.PEER_DEL_NTF, Cmd.KEY_SWAP_NTF):
                yield f"command-{command}", ask.ask(end, command, *attrs)
            yield f"dump-{command}", ask.ask(end, command, *attrs, dump=True)
            if command != GET:
                yield f"bare-dump-{command}", ask.ask(end, command, ask.index(end), dump=True)
        yield "dump/no-interface", ask.ask(fresh.end(), GET, dump=True)
        for what, number in {"unknown-interface": 9999, "other-interface": 1}.items():
            answer = ask.ask(fresh.end(), GET, nl.u32(ov.Top.IFINDEX, number), dump=True)
            yield f"dump/{what}", answer
        answer = ask.ask(fresh.end(), GET, ask.index(fresh.end()), dump=True)
        # In an order of the driver's own, which is nobody's business.
        answer.get("answers", []).sort(key=str)
        yield "dump/all", fresh.used(answer)
        fresh.close()


MAPPED = "::ffff:192.0.2.2"
MAPPED_LOCAL = "::ffff:127.0.0.1"
SCOPE = nl.u32(Peer.REMOTE_IPV6_SCOPE_ID, 1)
DAY = 86400

# Settings of a peer, beside its id: for PEER_NEW and PEER_SET, in both modes.
SETTINGS: dict[str, list[bytes]] = {
    "nothing": [],
    "v4": [remote(ask.REMOTE)],
    "v4-local": [remote(ask.REMOTE), local("127.0.0.1")],
    "v4-foreign-local": [remote(ask.REMOTE), local("198.51.100.1")],
    "v6": [remote("2001:db8::2")],
    "v6-local": [remote("2001:db8::2"), local("::1")],
    "v6-scope": [remote("fe80::2"), SCOPE],
    "v6-link-local-without-scope": [remote("fe80::2")],
    "v6-unknown-scope": [remote("fe80::2"), nl.u32(Peer.REMOTE_IPV6_SCOPE_ID, 9999)],
    "v6-global-scope": [remote("2001:db8::2"), SCOPE],
    "mapped": [remote(MAPPED)],
    "mapped-local": [remote(MAPPED), local(MAPPED_LOCAL)],
    "mapped-v4-local": [remote(MAPPED), local("127.0.0.1")],
    "mapped-v6-local": [remote(MAPPED), local("::1")],
    "mapped-scope": [remote(MAPPED), SCOPE],
    "v4-v6-local": [remote(ask.REMOTE), local("::1")],
    "v4-mapped-local": [remote(ask.REMOTE), local(MAPPED_LOCAL)],
    "v6-v4-local": [remote("2001:db8::2"), local("127.0.0.1")],
    "v6-mapped-local": [remote("2001:db8::2"), local(MAPPED_LOCAL)],
    "two-locals": [remote(ask.REMOTE), local("127.0.0.1"), local("::1")],
    "two-remotes": [remote(ask.REMOTE), remote("2001:db8::2", None)],
    "v4-scope": [remote(ask.REMOTE), SCOPE],
    "scope": [SCOPE],
    "local": [local("127.0.0.1")],
    "local6": [local("::1")],
    "port": [nl.be16(Peer.REMOTE_PORT, 1)],
    "no-port": [remote(ask.REMOTE, None)],
    "no-port6": [remote("2001:db8::2", None)],
    "port-0": [remote(ask.REMOTE, 0)],
    "port-65535": [remote(ask.REMOTE, 65535)],
    "nowhere": [remote("0.0.0.0")],
    "nowhere6": [remote("::")],
    "multicast": [remote("224.0.0.1")],
    "multicast6": [remote("ff02::1")],
    "broadcast": [remote("255.255.255.255")],
    "loopback": [remote("127.0.0.2")],
    "tx-id": [remote(ask.REMOTE), nl.u32(Peer.TX_ID, LARGEST_ID)],
    "tx-id-too-large": [remote(ask.REMOTE), nl.u32(Peer.TX_ID, LARGEST_ID + 1)],
    "interval-alone": [remote(ask.REMOTE), nl.u32(Peer.KEEPALIVE_INTERVAL, 5)],
    "timeout-alone": [remote(ask.REMOTE), nl.u32(Peer.KEEPALIVE_TIMEOUT, 5)],
    "keepalive-day": [remote(ask.REMOTE), keepalive(DAY, DAY)],
    "interval-too-long": [remote(ask.REMOTE), keepalive(DAY + 1, DAY)],
    "timeout-too-long": [remote(ask.REMOTE), keepalive(DAY, DAY + 1)],
    "keepalive-off": [remote(ask.REMOTE), keepalive(0, 0)],
    "interval-0": [remote(ask.REMOTE), keepalive(0, 60)],
    "timeout-0": [remote(ask.REMOTE), keepalive(10, 0)],
    "timeout-below-interval": [remote(ask.REMOTE), keepalive(60, 10)],
    "netnsid": [remote(ask.REMOTE), nl.u32(Peer.SOCKET_NETNSID, 0)],
    "local-port": [remote(ask.REMOTE), nl.be16(Peer.LOCAL_PORT, 1)],
    "reason": [remote(ask.REMOTE), nl.u32(Peer.DEL_REASON, 0)],
    "counter": [remote(ask.REMOTE), nl.u32(Peer.VPN_RX_BYTES, 0)],
}

# Addresses inside the tunnel; 10.0.0.1, 10.0.0.2 and fd00::1, fd00::2 are taken.
INSIDE: dict[str, list[bytes]] = {
    "none": [],
    **{
        f"address-{address}": [vpn(address)]
        for address in (
            "10.0.0.1", "10.0.0.2", "10.0.0.3", "0.0.0.0", "0.0.0.1", "127.0.0.1", "224.0.0.1",
            "240.0.0.1", "255.255.255.255", "fd00::1", "fd00::2", "fd00::3", "::", "::1", "::2",
            "::192.0.2.1", "::ffff:192.0.2.1", "64:ff9b::1", "fe80::1", "ff02::1", "2001:db8::1",
        )
    },
    "both": [vpn("10.0.0.3"), vpn("fd00::3")],
    "none-said": [vpn("0.0.0.0"), vpn("::")],
    "no-v4": [vpn("0.0.0.0"), vpn("fd00::3")],
    "no-v6": [vpn("10.0.0.3"), vpn("::")],
    "one-taken": [vpn("10.0.0.3"), vpn("fd00::2")],
    "other-taken": [vpn("10.0.0.2"), vpn("fd00::3")],
    "one-bad": [vpn("10.0.0.3"), vpn("ff02::1")],
    "taken-and-bad": [vpn("10.0.0.2"), vpn("ff02::1")],
}


@probes("request")
def settings() -> Iterator[Answer]:
    """What the peer is like afterwards is part of the answer."""
    with space() as there:
        for mode in ("mp", "p2p"):
            fresh = ask.Fresh(there, mode, prepared)
            for what, attrs in SETTINGS.items():
                free = [vpn("10.0.0.3")] if mode == "mp" else []
                yield f"peer-new/{mode}/{what}", made(fresh, NEW, 3, *attrs, *free)
                yield f"peer-set/{mode}/{what}", made(fresh, SET, 1, *attrs)
            for what, attrs in INSIDE.items():
                yield f"peer-new/{mode}/{what}", made(fresh, NEW, 3, remote(ask.REMOTE), *attrs)
                yield f"peer-set/{mode}/{what}", made(fresh, SET, 1, *attrs)
            for number in (0, 1, LARGEST_ID):
                free = [remote(ask.REMOTE), vpn("10.0.0.3")][: 2 if mode == "mp" else 1]
                yield f"peer-new/{mode}/id-{number}", made(fresh, NEW, number, *free)
            for command in (GET, DEL):
                yield f"{named(command)}/{mode}/good", made(fresh, command, 1)
            extra = nl.u32(Peer.TX_ID, 7)
            yield f"peer-get/{mode}/more-than-id", made(fresh, GET, 1, extra)
            fresh.close()


def made(fresh: ask.Fresh, command: Cmd, number: int, *attrs: bytes) -> dict[str, object]:
    """The answer, and with it the peer, when it is granted."""
    end = fresh.end()
    over = [nl.u32(Peer.SOCKET, end.socket.fileno())] if command == NEW else []
    answer = ask.ask(end, command, ask.index(end), peer(identity(number), *over, *attrs))
    if answer["errno"] == 0:
        answer["peer"] = ask.ask(end, GET, ask.index(end), peer(identity(number)))
    return fresh.used(answer)


@probes("request/peer-new/socket")
def sockets() -> Iterator[Answer]:
    """What is given as a socket."""
    with space() as there, contextlib.ExitStack() as stack, there.inside():
        fresh = ask.Fresh(there, "mp", prepared)
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        left, right = socket.socketpair()
        tunnel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tunnel.setsockopt(socket.IPPROTO_UDP, 100, 3)
        file = stack.enter_context(tempfile.TemporaryFile())
        unbound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dual = udp_socket("::")
        only6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        only6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        only6.bind(("::1", 0))
        packet = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        offered = (raw, left, right, tunnel, unbound, dual, only6, packet, netlink)
        for one in offered:
            stack.enter_context(one)
        descriptors = {
            "file": file.fileno(), "closed": 9999, "largest": 0xFFFFFFFF, "raw": raw.fileno(),
            "unix": left.fileno(), "other-tunnel": tunnel.fileno(), "packet": packet.fileno(),
            "netlink": netlink.fileno(), "unbound": unbound.fileno(), "dual": dual.fileno(),
            "v6-only": only6.fileno(),
        }
        for what, number in descriptors.items():
            for version, where in {"v4": ask.REMOTE, "v6": "2001:db8::2"}.items():
                end = fresh.end()
                attrs = [identity(3), nl.u32(Peer.SOCKET, number), remote(where), vpn("10.0.0.3")]
                answer = ask.ask(end, NEW, ask.index(end), peer(*attrs))
                yield f"{what}/{version}", fresh.used(answer)
        end = fresh.end()
        answer = ask.ask(end, NEW, ask.index(end), peer(identity(3), remote(ask.REMOTE)))
        yield "missing", fresh.used(answer)
        other = Endpoint(there, "mp1", "mp", "127.0.0.1")
        attrs = [identity(3), nl.u32(Peer.SOCKET, end.socket.fileno()), remote(ask.REMOTE)]
        yield "of-another-link", ask.ask(other, NEW, ask.index(other), peer(*attrs, vpn("10.0.0.3")))
        over = nl.u32(Peer.SOCKET, end.socket.fileno())
        yield "in-set", ask.ask(end, SET, ask.index(end), peer(identity(1), over))
        other.close()
        fresh.close()


@contextlib.contextmanager
def space() -> Iterator[Namespace]:
    """A namespace for a while."""
    there = Namespace("ovpn-parity")
    try:
        yield there
    finally:
        there.delete()


def named(number: Cmd | Peer) -> str:
    """As the specification calls it."""
    return number.name.lower().replace("_", "-")
