#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Keeps one end of a tunnel: the driver's peer lives as long as the socket that is open here.

tunnel.py SIDE ADDRESS REMOTE CIPHER: SIDE 0 is the client, 1 the server. Prints "ready",
and takes everything down when its input ends.
"""

from __future__ import annotations

import subprocess
import sys

import endpoint
import family
import link

NAME = "ovpn-nic"
PORT = 1194
INNER = ("10.99.0.1", "10.99.0.2")
MTU = 1408


def main(side: int, address: str, remote: str, cipher: str) -> int:
    link.add(NAME, link.MODES["mp" if side else "p2p"])
    index = link.index(NAME)
    there = family.Family()
    over = endpoint.udp_socket(address, PORT)
    try:
        _ip("link", "set", NAME, "mtu", str(MTU), "up")
        _ip("address", "add", f"{INNER[side]}/24", "dev", NAME)
        known = (endpoint.vpn(INNER[0]),) if side else ()
        there.peer(family.Cmd.PEER_NEW, index, *endpoint.peer_attrs(1, (remote, PORT), over, *known))
        number, size = endpoint.cipher_of(cipher)
        seeds = (2, 1) if side else (1, 2)
        keys = [endpoint.direction(size, seed) for seed in seeds]
        there.key_new(index, 1, family.Slot.PRIMARY, 0, number, *keys)
        print("ready", flush=True)
        sys.stdin.read()
    finally:
        link.delete(NAME)
    return 0


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
