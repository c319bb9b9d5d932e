#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Requests about peers that the driver must refuse, and how."""

from __future__ import annotations

import errno
import functools
import os
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import nl
from endpoint import Endpoint, asks, close_all, keepalive, multipeer, peer_attrs, point_to_point, vpn
from namespace import Namespace, load_module

REMOTE = ("192.0.2.2", 1194)

load_module()
SPACE = Namespace("ovpn-netlink")
server = functools.partial(multipeer, SPACE)
client = functools.partial(point_to_point, SPACE)


@ktap.case("a request without its interface, peer or peer id is refused")
def missing() -> None:
    """Each command says so itself."""
    end = server()
    for command in (ov.Cmd.PEER_NEW, ov.Cmd.PEER_SET, ov.Cmd.PEER_GET, ov.Cmd.PEER_DEL):
        peer = nl.nest(ov.Top.PEER, nl.u32(ov.Peer.ID, 1))
        index = nl.u32(ov.Top.IFINDEX, end.index)
        refusal = ktap.refused(errno.EINVAL, lambda: end.family.request(command, peer))
        ktap.equal(f"{command.name} missing", refusal.missing, ov.Top.IFINDEX)
        refusal = ktap.refused(errno.EINVAL, lambda: end.family.request(command, index))
        ktap.equal(f"{command.name} missing", refusal.missing, ov.Top.PEER)
        refusal = ktap.refused(errno.EINVAL, asks(end, command))
        ktap.equal(f"{command.name} missing", refusal.missing, ov.Peer.ID)
    refusal = ktap.refused(
        errno.EINVAL, asks(end, ov.Cmd.PEER_NEW, *peer_attrs(1, REMOTE, None, vpn("10.0.0.1")))
    )
    ktap.equal("PEER_NEW missing", refusal.missing, ov.Peer.SOCKET)
    end.close()


@ktap.case("an interface that is unknown or of another kind is refused")
def wrong_interface() -> None:
    """Also for a dump."""
    end = server()
    for number, index in ((errno.ENODEV, 9999), (errno.EINVAL, 1)):
        ktap.refused(number, lambda: end.family.peer_get(index, 1))
        ktap.refused(number, lambda: end.family.peer_dump(index))
        ktap.refused(number, lambda: end.family.key_swap(index, 1))
    end.close()


@ktap.case("values out of their range are refused")
def out_of_range() -> None:
    """The numbers are those of the specification."""
    end = server()
    wrong = {
        "peer id": [nl.u32(ov.Peer.ID, 0x1000000)],
        "tx id": [nl.u32(ov.Peer.ID, 1), nl.u32(ov.Peer.TX_ID, 0x1000000)],
        "port": [nl.u32(ov.Peer.ID, 1), nl.be16(ov.Peer.REMOTE_PORT, 0)],
        "IPv6 address": [nl.u32(ov.Peer.ID, 1), nl.attr(ov.Peer.REMOTE_IPV6, bytes(4))],
        "keepalive": [nl.u32(ov.Peer.ID, 1), keepalive(86401, 10)],
    }
    for what, attrs in wrong.items():
        ktap.note(f"{what}: {ktap.refused(errno.ERANGE, asks(end, ov.Cmd.PEER_NEW, *attrs))}")
    end.close()


@ktap.case("a socket that is none, or of the wrong sort, is ENOTSOCK")
def wrong_socket() -> None:
    """A file, a closed number, a local socket, another link's socket."""
    end, other = server(), server("mp1")
    other.peer_new(1, REMOTE, vpn("10.0.0.1"))
    left, right = socket.socketpair()
    with tempfile.TemporaryFile() as file:
        for number in (file.fileno(), 9999, left.fileno(), other.socket.fileno()):
            attrs = peer_attrs(1, REMOTE, number, vpn("10.0.0.1"))
            ktap.note(str(ktap.refused(errno.ENOTSOCK, asks(end, ov.Cmd.PEER_NEW, *attrs))))
    left.close()
    right.close()
    ktap.equal("peers", end.family.peer_dump(end.index), [])
    other.close()
    end.close()


@ktap.case("a peer whose addresses contradict each other is refused")
def contradictions() -> None:
    """Remote, local, port, keepalive."""
    end = server()
    v4 = ov.address_attr("192.0.2.2", ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6)
    v6 = ov.address_attr("2001:db8::2", ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6)
    local4 = ov.address_attr("192.0.2.1", ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6)
    local6 = ov.address_attr("2001:db8::1", ov.Peer.LOCAL_IPV4, ov.Peer.LOCAL_IPV6)
    wrong = {
        "two remotes": [v4, v6, nl.be16(ov.Peer.REMOTE_PORT, 1)],
        "no port": [v4],
        "no remote": [nl.be16(ov.Peer.REMOTE_PORT, 1)],
        "no remote at all": [],
        "local without remote": [local4],
        "local of another family": [v4, nl.be16(ov.Peer.REMOTE_PORT, 1), local6],
        "scope without IPv6": [
            v4, nl.be16(ov.Peer.REMOTE_PORT, 1), nl.u32(ov.Peer.REMOTE_IPV6_SCOPE_ID, 1),
        ],
        "half a keepalive": [
            v4, nl.be16(ov.Peer.REMOTE_PORT, 1), nl.u32(ov.Peer.KEEPALIVE_INTERVAL, 1),
        ],
    }
    for what, attrs in wrong.items():
        every = peer_attrs(1, None, end.socket, vpn("10.0.0.1"), *attrs)
        ktap.note(f"{what}: {ktap.refused(errno.EINVAL, asks(end, ov.Cmd.PEER_NEW, *every))}")
    end.close()


@ktap.case("an address inside the tunnel must suit the mode and be free")
def vpn_addresses() -> None:
    """Multipeer needs one, peer to peer must have none."""
    end, single = server(), client()
    attrs = peer_attrs(1, REMOTE, end.socket)
    ktap.refused(errno.EINVAL, asks(end, ov.Cmd.PEER_NEW, *attrs))
    for address in ("224.0.0.1", "127.0.0.1", "255.255.255.255", "ff02::1", "::1"):
        ktap.refused(errno.EADDRNOTAVAIL, asks(end, ov.Cmd.PEER_NEW, *attrs, vpn(address)))
    end.peer_new(1, REMOTE, vpn("10.0.0.1"), vpn("fd00::1"))
    ktap.refused(errno.EEXIST, lambda: end.peer_new(1, REMOTE, vpn("10.0.0.9")))
    ktap.refused(errno.EADDRINUSE, lambda: end.peer_new(2, REMOTE, vpn("10.0.0.1")))
    ktap.refused(errno.EADDRINUSE, lambda: end.peer_new(2, REMOTE, vpn("fd00::1")))
    ktap.refused(errno.EINVAL, lambda: single.peer_new(1, REMOTE, vpn("10.0.0.1")))
    ktap.equal("peers", len(end.family.peer_dump(end.index)), 1)
    single.close()
    end.close()


@ktap.case("a link of another namespace is not there")
def foreign_namespace() -> None:
    """By its number, which is that of nothing where it is asked for."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    other = Namespace("ovpn-foreign")
    with other.inside():
        asking = ov.Family()
    ktap.refused(errno.ENODEV, lambda: asking.peer_get(end.index, 1))
    ktap.refused(errno.ENODEV, lambda: asking.peer_dump(end.index))
    ktap.refused(errno.ENODEV, lambda: asking.peer_del(end.index, 1))
    attrs = peer_attrs(2, REMOTE, end.socket, vpn("10.0.0.2"))
    ktap.refused(errno.ENODEV, lambda: asking.peer(ov.Cmd.PEER_NEW, end.index, *attrs))
    asking.close()
    other.delete()
    ktap.equal("peers", len(end.family.peer_dump(end.index)), 1)
    end.close()


@ktap.case("without CAP_NET_ADMIN every request is refused")
def no_permission() -> None:
    """A child of this process gives its rights away."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))

    def nobody() -> None:
        with SPACE.inside():
            give_rights_away()
            expect_no_permission(end.index)
            ktap.refused(errno.EPERM, lambda: link.add("mine", None))
            ktap.refused(errno.EPERM, lambda: link.delete(end.name))
            # It may not even go back to where it came from.
            os._exit(0)

    in_child(nobody)
    ktap.equal("peers", len(end.family.peer_dump(end.index)), 1)
    end.close()


@ktap.case("the root of a user namespace can have links, but neither peers nor keys")
def own_namespace() -> None:
    """Whoever could give peers a socket could send and receive as it likes."""

    def root() -> None:
        give_rights_away()
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
        for mode in link.MODES.values():
            link.add("mine", mode)
            expect_no_permission(link.index("mine"))
            link.delete("mine")

    in_child(root)


def give_rights_away() -> None:
    """For ever, in this process."""
    os.setgid(65534)
    os.setuid(65534)


def expect_no_permission(index: int) -> None:
    """For each command, however complete it is."""
    asking = ov.Family()
    peer = nl.nest(ov.Top.PEER, nl.u32(ov.Peer.ID, 1))
    key = nl.nest(ov.Top.KEYCONF, nl.u32(ov.Key.PEER_ID, 1), nl.u32(ov.Key.SLOT, 0))
    notifications = (ov.Cmd.PEER_DEL_NTF, ov.Cmd.KEY_SWAP_NTF, ov.Cmd.PEER_FLOAT_NTF)
    for command in ov.Cmd:
        if command not in notifications:
            nest = peer if command < ov.Cmd.KEY_NEW else key
            ktap.refused(errno.EPERM, lambda: asking.request(command, nl.u32(ov.Top.IFINDEX, index), nest))
    ktap.refused(errno.EPERM, lambda: asking.peer_dump(index))
    asking.close()


def in_child(action: Callable[[], None]) -> None:
    """The action in a process of its own, where it must succeed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        except BaseException:  # pylint: disable=broad-except
            ktap.note(traceback.format_exc())
        finally:
            os._exit(code)
    ktap.equal("the child's verdict", os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    code = ktap.run(close_all)
    SPACE.delete()
    sys.exit(code)
