#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Two links with static keys: every cipher over IPv4 and IPv6 transport."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ktap
from endpoint import Endpoint, close_all, vpn
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import Namespace, load_module

CIPHERS = ("AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "CHACHA20-POLY1305")
TRANSPORTS = {"IPv4": (LEFT4, RIGHT4), "IPv6": (LEFT6, RIGHT6)}
SIZES = (1, 64, 1400, 1500, 3000, 8000)

load_module()
GROUND = Ground()


def passes(cipher: str, transport: str) -> None:
    """A multipeer link and a link for one peer, pings of every size."""
    here, there = TRANSPORTS[transport]
    server = Endpoint(GROUND.left, "tun-left", "mp", here)
    client = Endpoint(GROUND.right, "tun-right", "p2p", there)
    server.peer_new(7, (there, client.port()), vpn("10.9.0.2"), vpn("fd09::2"))
    client.peer_new(7, (here, server.port()))
    server.key_new(7, cipher, (1, 2))
    client.key_new(7, cipher, (2, 1))
    server.up("10.9.0.1/24", "fd09::1/64")
    client.up("10.9.0.2/24", "fd09::2/64")
    for size in SIZES:
        ping(GROUND.left, "10.9.0.2", size)
    ping(GROUND.right, "fd09::1", 1400)
    for end in (server, client):
        for counter in ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors"):
            ktap.equal(f"{counter} of {end.name}", end.counter(counter), 0)
    server.close()
    client.close()


def ping(space: Namespace, address: str, size: int) -> None:
    """None of five may be lost; with its deadline ping waits for late replies."""
    said = space.run("ping", "-n", "-c5", "-i0.02", "-w15", f"-s{size}", address)
    answered = {int(number) for number in re.findall(r"icmp_seq=(\d+)", said)}
    if missing := set(range(1, 6)) - answered:
        ktap.fail(f"no reply to {missing} of {size} bytes: {said}")


for each in CIPHERS:
    for over in TRANSPORTS:
        ktap.case(f"{each} over {over}")(lambda each=each, over=over: passes(each, over))

if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
