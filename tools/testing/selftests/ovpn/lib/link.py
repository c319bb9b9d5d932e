#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tunnel links: iproute2 knows no mode for them, so they are made from here.

Run as a program: link.py add NAME [p2p|mp], in the namespace it is run in.
"""

from __future__ import annotations

import socket
import struct
import sys

import nl

RTM_NEWLINK = 16
RTM_DELLINK = 17
RTM_GETLINK = 18

IFLA_IFNAME = 3
IFLA_OPERSTATE = 16
IFLA_LINKINFO = 18
IFLA_INFO_KIND = 1
IFLA_INFO_DATA = 2
IFLA_OVPN_MODE = 1

OPER_UP = 6

MODES = {"p2p": 0, "mp": 1}

_IFINFO = struct.Struct("=BxHiII")


def add(name: str, mode: int | None) -> None:
    """Makes a link; without a mode the driver chooses."""
    info = [nl.text(IFLA_INFO_KIND, "ovpn")]
    if mode is not None:
        info.append(nl.nest(IFLA_INFO_DATA, nl.u8(IFLA_OVPN_MODE, mode)))
    payload = _IFINFO.pack(0, 0, 0, 0, 0)
    payload += nl.text(IFLA_IFNAME, name) + nl.nest(IFLA_LINKINFO, *info)
    _request(RTM_NEWLINK, nl.NLM_F_CREATE | nl.NLM_F_EXCL, payload)


def delete(name: str) -> None:
    """Deletes a link by its name."""
    _request(RTM_DELLINK, 0, _IFINFO.pack(0, 0, 0, 0, 0) + nl.text(IFLA_IFNAME, name))


def info(name: str) -> tuple[str, int | None]:
    """Kind and mode as the kernel reports them."""
    attrs = _attributes(name)
    inner = nl.parse(attrs[IFLA_LINKINFO])
    data = nl.parse(inner.get(IFLA_INFO_DATA, b""))
    mode = data.get(IFLA_OVPN_MODE)
    kind = inner[IFLA_INFO_KIND].rstrip(b"\0").decode()
    return kind, None if mode is None else nl.number(mode)


def is_operational(name: str) -> bool:
    """Whether the stack hands the link packets: some time after it has got its carrier."""
    return nl.number(_attributes(name)[IFLA_OPERSTATE]) == OPER_UP


def _attributes(name: str) -> dict[int, bytes]:
    payload = _IFINFO.pack(0, 0, 0, 0, 0) + nl.text(IFLA_IFNAME, name)
    answer = _request(RTM_GETLINK, 0, payload)[0]
    return nl.parse(answer.payload[_IFINFO.size :])


def index(name: str) -> int:
    """The interface's number."""
    return socket.if_nametoindex(name)


def _request(kind: int, flags: int, payload: bytes) -> list[nl.Message]:
    route = nl.NetlinkSocket(nl.NETLINK_ROUTE)
    try:
        return route.request(kind, flags, payload)
    finally:
        route.close()


def main(arguments: list[str]) -> int:
    """The command line."""
    match arguments:
        case ["add", name]:
            add(name, None)
        case ["add", name, mode] if mode in MODES or mode.isdigit():
            add(name, MODES[mode] if mode in MODES else int(mode))
        case ["mode", name]:
            print(info(name)[1])
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"link.py: {error}")
