# SPDX-License-Identifier: GPL-2.0
"""A tunnel of whichever ovpn module is loaded, with static keys.

In a there is a client (P2P). In b there is one too, or a server (MP).
"""

from __future__ import annotations

import errno
import socket

import endpoint
import family
import namespace
from ground import INNER, Ground
from system import Unsupported

PEER = 1
PORT = 1194
# ENOTSUPP has no name outside the kernel.
REFUSALS = (errno.EOPNOTSUPP, errno.EPROTONOSUPPORT, errno.EAFNOSUPPORT, 524)


class Tunnel:
    """tun0 in a, tun1 in b."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        scenario = ground.scenario
        namespace.load_module()
        self.target = INNER[1]
        outer = ground.outer()
        self._modes = ("p2p", scenario.mode)
        self._ends = [
            endpoint.Endpoint(space, name, self._modes[end], outer[end])
            for space, name, end in ground.ends("tun0", "tun1")
        ]
        for end, here in enumerate(self._ends):
            here.up(f"{INNER[end]}/{INNER[2]}")
            here.space.ip("link", "set", here.name, "mtu", str(scenario.mtu))
        try:
            (self._peers_udp if scenario.transport == "udp" else self._peers_tcp)()
        except BaseException:
            self.close()
            raise
        for end, here in enumerate(self._ends):
            here.key_new(PEER, scenario.cipher, (1, 2) if end == 0 else (2, 1))

    def close(self) -> None:
        """Links, sockets and netlink sockets."""
        for end in self._ends:
            end.close()

    def _known(self, end: int) -> tuple[bytes, ...]:
        """A server has to be told the client's address."""
        return (endpoint.vpn(INNER[0]),) if self._modes[end] == "mp" else ()

    def _peers_udp(self) -> None:
        outer = self._ground.outer()
        for end, here in enumerate(self._ends):
            here.peer_new(PEER, (outer[1 - end], self._ends[1 - end].port()), *self._known(end))

    def _peers_tcp(self) -> None:
        for end, over in enumerate(_connection(self._ground)):
            here = self._ends[end]
            attrs = endpoint.peer_attrs(PEER, None, over, *self._known(end))
            try:
                here.family.peer(family.Cmd.PEER_NEW, here.index, *attrs)
            except OSError as error:
                if error.errno in REFUSALS:
                    raise Unsupported(f"TCP transport ({error.strerror})") from error
                raise
            # The driver holds on to it; what closes the tunnel also closes this.
            here.socket.close()
            here.socket = over


def _connection(ground: Ground) -> tuple[socket.socket, socket.socket]:
    """A TCP connection from a to b, both ends of it."""
    kind = socket.AF_INET6 if ground.scenario.family == 6 else socket.AF_INET
    target = (ground.outer()[1], PORT)
    with ground.b.inside():
        listener = socket.socket(kind, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(target)
        listener.listen()
    with ground.a.inside():
        client = socket.socket(kind, socket.SOCK_STREAM)
    client.connect(target)
    server, _ = listener.accept()
    listener.close()
    for end in (client, server):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client, server
