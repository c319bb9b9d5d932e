#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""User space sets options of a socket that a tunnel has taken, or has left."""

from __future__ import annotations

import errno
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ktap
from aggregate import arriving, gather
from endpoint import Endpoint, close_all
from fire import UDP_GRO, attach, drained_many, leave, plain, under_fire
from ground import Ground
from namespace import load_module

UDP_ENCAP = 100
UDP_ENCAP_ESPINUDP, UDP_ENCAP_L2TPINUDP = 2, 3

load_module()
GROUND = Ground()
gather(GROUND)


@ktap.case("UDP_GRO of the socket, set before and after it is taken")
def udp_gro() -> None:
    """The tunnel works, and afterwards user space is told of each datagram's size."""
    for when in ("before", "while", "after"):
        with under_fire(GROUND) as (end, flood):
            if when == "before":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            attach(end)
            if when == "while":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            drained_many(end)
            with arriving(GROUND.right) as seen:
                flood.some()
            seen.must_be_together()
            ktap.equal("datagrams that the socket got", drained_many(end), 0)
            leave(end)
            if when == "after":
                end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
            flood.some()
            if not drained_many(end):
                ktap.fail("the socket gets nothing although no tunnel has it")
            end.socket.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 0)
            drained_many(end)
            plain(end, flood)


@ktap.case("user space makes it a socket of another kind while it is taken, and afterwards")
def other_kind() -> None:
    """What comes of the datagrams then is its own affair, but it ends with the socket."""
    for kind in (0, UDP_ENCAP_ESPINUDP, UDP_ENCAP_L2TPINUDP):
        for taken in (True, False):
            with under_fire(GROUND) as (end, flood):
                attach(end)
                flood.some()
                if not taken:
                    leave(end)
                known = changed(end, kind)
                flood.some()
                if known and kind and not taken:
                    ktap.refused(errno.ENOTSOCK, lambda: attach(end))
                if taken:
                    leave(end)
                    drained_many(end)
                    plain(end, flood)
    with under_fire(GROUND) as (end, flood):
        attach(end)
        end.socket.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_L2TPINUDP)
        flood.some()
        end.socket.close()
        leave(end)
        flood.some()


def changed(end: Endpoint, kind: int) -> bool:
    """Whether the socket is of that kind now; a kernel without IPsec has none for ESP."""
    try:
        end.socket.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, kind)
    except OSError as error:
        ktap.equal("error", error.errno, errno.ENOPROTOOPT)
        ktap.equal("kind", kind, UDP_ENCAP_ESPINUDP)
        return False
    return True


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
