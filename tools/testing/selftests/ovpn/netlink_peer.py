#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Peers by netlink: made, read, changed, deleted, and what is told of it."""

from __future__ import annotations

import errno
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import nl
from endpoint import (
    Endpoint,
    asks,
    close_all,
    keepalive,
    multipeer,
    peer_attrs,
    point_to_point,
    udp_socket,
    vpn,
)
from namespace import Namespace, load_module

REMOTE = ("192.0.2.2", 1194)
REMOTE6 = ("2001:db8::2", 1194)
STATISTICS = range(ov.Peer.VPN_RX_BYTES, ov.Peer.LINK_TX_PACKETS + 1)

load_module()
SPACE = Namespace("ovpn-netlink")
server = functools.partial(multipeer, SPACE)
client = functools.partial(point_to_point, SPACE)


@ktap.case("what was set is what is read, for IPv4 and IPv6 remotes")
def read_back() -> None:
    """One peer of each."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"), vpn("fd00::1"), keepalive(10, 60), nl.u32(ov.Peer.TX_ID, 77))
    with SPACE.inside():
        socket6 = udp_socket("::1")
    attrs = peer_attrs(2, REMOTE6, socket6, vpn("10.0.0.2"))
    end.family.peer(ov.Cmd.PEER_NEW, end.index, *attrs)
    peer = end.get(1)
    ktap.equal("id", nl.number(peer[ov.Peer.ID]), 1)
    ktap.equal("tx id", nl.number(peer[ov.Peer.TX_ID]), 77)
    ktap.equal("address", ov.address(peer[ov.Peer.VPN_IPV4]), "10.0.0.1")
    ktap.equal("address", ov.address(peer[ov.Peer.VPN_IPV6]), "fd00::1")
    ktap.equal("remote", ov.address(peer[ov.Peer.REMOTE_IPV4]), REMOTE[0])
    ktap.equal("remote port", ov.port(peer[ov.Peer.REMOTE_PORT]), REMOTE[1])
    ktap.equal("local port", ov.port(peer[ov.Peer.LOCAL_PORT]), end.port())
    ktap.equal("interval", nl.number(peer[ov.Peer.KEEPALIVE_INTERVAL]), 10)
    ktap.equal("timeout", nl.number(peer[ov.Peer.KEEPALIVE_TIMEOUT]), 60)
    ktap.equal("counters", [nl.number(peer[name]) for name in STATISTICS], [0] * 8)
    peer = end.get(2)
    ktap.equal("tx id", nl.number(peer[ov.Peer.TX_ID]), 2)
    ktap.equal("remote", ov.address(peer[ov.Peer.REMOTE_IPV6]), REMOTE6[0])
    ktap.equal("no IPv4", ov.Peer.REMOTE_IPV4 in peer, False)
    ktap.equal("local port", ov.port(peer[ov.Peer.LOCAL_PORT]), socket6.getsockname()[1])
    extra = [nl.u32(ov.Peer.ID, 1), nl.u32(ov.Peer.TX_ID, 1)]
    ktap.refused(errno.EINVAL, asks(end, ov.Cmd.PEER_GET, *extra))
    end.close()
    socket6.close()


@ktap.case("a peer is changed in place")
def change() -> None:
    """And an unknown one is not."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    end.peer_new(2, REMOTE, vpn("10.0.0.2"))
    attrs = peer_attrs(1, ("192.0.2.77", 5000), None, vpn("10.0.0.5"), keepalive(3, 9))
    end.family.peer(ov.Cmd.PEER_SET, end.index, *attrs)
    peer = end.get(1)
    ktap.equal("remote", ov.address(peer[ov.Peer.REMOTE_IPV4]), "192.0.2.77")
    ktap.equal("remote port", ov.port(peer[ov.Peer.REMOTE_PORT]), 5000)
    ktap.equal("address", ov.address(peer[ov.Peer.VPN_IPV4]), "10.0.0.5")
    ktap.equal("timeout", nl.number(peer[ov.Peer.KEEPALIVE_TIMEOUT]), 9)
    setting = ov.Cmd.PEER_SET
    ktap.refused(errno.EADDRINUSE, asks(end, setting, nl.u32(ov.Peer.ID, 1), vpn("10.0.0.2")))
    ktap.refused(errno.ENOENT, asks(end, setting, nl.u32(ov.Peer.ID, 3), vpn("10.0.0.3")))
    ktap.refused(errno.EINVAL, asks(end, setting, *peer_attrs(1, None, end.socket)))
    end.close()


@ktap.case("a dump of 300 peers has each of them once")
def dump() -> None:
    """More than fit in one message."""
    end = server()
    for number in range(300):
        end.peer_new(number, REMOTE, vpn(f"10.1.{number // 200}.{number % 200 + 1}"))
    found = sorted(nl.number(peer[ov.Peer.ID]) for peer in end.family.peer_dump(end.index))
    ktap.equal("peers", found, list(range(300)))
    end.close()


@ktap.case("deleting a peer is told with the reason userspace")
def deleted() -> None:
    """And only once."""
    end = server()
    end.family.listen()
    end.peer_new(5, REMOTE, vpn("10.0.0.5"))
    end.family.peer_del(end.index, 5)
    expect_deleted(end, [5], ov.Reason.USERSPACE)
    ktap.refused(errno.ENOENT, lambda: end.family.peer_get(end.index, 5))
    ktap.refused(errno.ENOENT, lambda: end.family.peer_del(end.index, 5))
    end.close()


@ktap.case("closing the socket deletes its peers as disconnected, and no others")
def disconnected() -> None:
    """One link, two sockets."""
    end = server()
    with SPACE.inside():
        second = udp_socket("127.0.0.1")
    for number in (1, 2):
        end.peer_new(number, REMOTE, vpn(f"10.0.0.{number}"))
    end.family.peer(
        ov.Cmd.PEER_NEW, end.index, *peer_attrs(3, REMOTE, second, vpn("10.0.0.3"))
    )
    end.family.listen()
    end.socket.close()
    expect_deleted(end, [1, 2], ov.Reason.TRANSPORT_DISCONNECT)
    ktap.equal("peers", [nl.number(p[ov.Peer.ID]) for p in end.family.peer_dump(end.index)], [3])
    end.close()
    second.close()


@ktap.case("a silent peer expires and that is told")
def expired() -> None:
    """Two seconds, and the other one stays."""
    end = server()
    end.family.listen()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"), keepalive(1, 2))
    end.peer_new(2, REMOTE, vpn("10.0.0.2"))
    expect_deleted(end, [1], ov.Reason.EXPIRED)
    ktap.equal("peers", [nl.number(p[ov.Peer.ID]) for p in end.family.peer_dump(end.index)], [2])
    end.close()


@ktap.case("deleting the link tears its peers down and frees the socket")
def torn_down() -> None:
    """The socket is then good for another link."""
    end = server()
    end.family.listen()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    with SPACE.inside():
        link.delete("mp0")
    expect_deleted(end, [1], ov.Reason.TEARDOWN)
    other = server("mp1")
    attrs = peer_attrs(1, REMOTE, end.socket, vpn("10.0.0.1"))
    other.family.peer(ov.Cmd.PEER_NEW, other.index, *attrs)
    other.close()
    end.outlive()


@ktap.case("peer to peer: a new peer replaces the old one, carrier follows the peer")
def single_peer() -> None:
    """Carrier needs the link up."""
    end = client()
    end.up("10.9.0.1/24")
    end.family.listen()
    ktap.equal("carrier without a peer", end.carrier(), False)
    end.peer_new(1, REMOTE)
    ktap.equal("carrier with a peer", end.carrier(), True)
    end.peer_new(2, REMOTE)
    expect_deleted(end, [1], ov.Reason.TEARDOWN)
    ktap.equal("peers", [nl.number(p[ov.Peer.ID]) for p in end.family.peer_dump(end.index)], [2])
    ktap.equal("carrier with a peer", end.carrier(), True)
    end.family.peer_del(end.index, 2)
    ktap.equal("carrier without a peer", end.carrier(), False)
    end.close()


def expect_deleted(end: Endpoint, peers: list[int], reason: ov.Reason) -> None:
    """One notification for each of the peers, in any order."""
    told = []
    for _ in peers:
        heard = end.family.notification(8)
        ktap.equal("notification", heard.command, ov.Cmd.PEER_DEL_NTF)
        ktap.equal("interface", heard.ifindex, end.index)
        ktap.equal("reason", nl.number(heard.peer[ov.Peer.DEL_REASON]), reason)
        told.append(nl.number(heard.peer[ov.Peer.ID]))
    ktap.equal("peers told of", sorted(told), peers)
    try:
        ktap.fail(f"told once more: {end.family.notification(0.3)}")
    except TimeoutError:
        pass


if __name__ == "__main__":
    code = ktap.run(close_all)
    SPACE.delete()
    sys.exit(code)
