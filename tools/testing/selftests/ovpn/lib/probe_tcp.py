# SPDX-License-Identifier: GPL-2.0
"""Requests for peers that are reached over TCP."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections.abc import Callable, Iterator

import ask
import nl
from ask import peer, remote
from endpoint import Endpoint, keepalive, vpn
from family import Cmd, Peer
from ground import LEFT4, Ground
from probe import Answer, probes
from probe_peers import identity
from probe_traffic import ground
from stream import connection


@probes("tcp/request")
def requests() -> Iterator[Answer]:
    """Sockets in every state, and what goes with them."""
    with ground() as there:
        end = Endpoint(there.right, "mp0", "mp", "127.0.0.1")
        for what, make in SOCKETS.items():
            with contextlib.ExitStack() as stack:
                made = make(there, stack)
                for how, attrs in {"": [], "-with-remote": [remote(LEFT4)], "-with-local": [ask.local("127.0.0.1")]}.items():
                    wanted = [identity(1), nl.u32(Peer.SOCKET, made.fileno()), *attrs, vpn("10.0.0.1")]
                    answer = ask.ask(end, Cmd.PEER_NEW, ask.index(end), peer(*wanted))
                    yield f"{what}{how}", answer
                    if answer["errno"] == 0:
                        yield from used(end, made, f"{what}{how}")
        end.close()


def used(end: Endpoint, made: socket.socket, what: str) -> Iterator[Answer]:
    """What is told of such a peer, what it can be changed to, and a second one for its socket."""
    told = ask.ask(end, Cmd.PEER_GET, ask.index(end), peer(identity(1)))
    # The port is another one each time.
    told["answers"][0][0][1] = [words for words in told["answers"][0][0][1] if words[0] != Peer.LOCAL_PORT]
    yield f"{what}-told", told
    for change, attrs in {"remote": remote(LEFT4), "keepalive": keepalive(1, 5), "local": ask.local("127.0.0.1")}.items():
        yield f"{what}-set-{change}", ask.ask(end, Cmd.PEER_SET, ask.index(end), peer(identity(1), attrs))
    again = [identity(2), nl.u32(Peer.SOCKET, made.fileno()), vpn("10.0.0.2")]
    yield f"{what}-again", ask.ask(end, Cmd.PEER_NEW, ask.index(end), peer(*again))
    yield f"{what}-deleted", ask.ask(end, Cmd.PEER_DEL, ask.index(end), peer(identity(1)))


def fresh(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """Not connected."""
    with there.right.inside():
        return stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))


def listening(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """Waits for connections."""
    made = fresh(there, stack)
    made.listen()
    return made


def connected(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """As it should be."""
    end, tap = connection(there.right, there.left, LEFT4)
    stack.enter_context(tap)
    return stack.enter_context(end)


def half_closed(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """The other side has said that it sends no more."""
    end, tap = connection(there.right, there.left, LEFT4)
    tap.close()
    select.select([end], [], [], 5)
    return stack.enter_context(end)


def shut(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """We have."""
    end = connected(there, stack)
    end.shutdown(socket.SHUT_WR)
    return end


def reset(there: Ground, stack: contextlib.ExitStack) -> socket.socket:
    """The other side is gone for good."""
    end, tap = connection(there.right, there.left, LEFT4)
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    tap.close()
    select.select([end], [], [], 5)
    return stack.enter_context(end)


SOCKETS: dict[str, Callable[[Ground, contextlib.ExitStack], socket.socket]] = {
    "fresh": fresh, "listening": listening, "connected": connected,
    "half-closed": half_closed, "shut": shut, "reset": reset,
}
