#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Datagrams of all kinds: each is delivered, left to the daemon or dropped as a model says.

DATAGRAMS says how many in each case, SEED which ones; the same seed gives the same.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from capture import ETH_P_ALL, SO_RCVBUFFORCE
from endpoint import Endpoint, cipher_of, close_all, direction, peer_attrs, udp_socket, vpn
from flow import SO_SNDBUFFORCE
from ground import Ground
from namespace import load_module, run
from pace import fewer
from pair import TRANSPORT, switch
from stream import connection

PROGRAM = "/ovpn/bin/packet-fuzz"
DATAGRAMS = int(os.environ.get("DATAGRAMS", str(fewer(60_000))))
SEED = int(os.environ.get("SEED", "1"))
PEERS = 4
CIPHERS = ("AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "CHACHA20-POLY1305")
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER = 10, 23
LINK = "tun-right"

load_module()
GROUND = Ground()
# A batch is queued as a whole.
run("sysctl", "-qw", "net.core.netdev_max_backlog=100000")


class Target:
    """A link with peers, keys and routes, and the sockets that everything is sent by."""

    def __init__(self, over: int, transport: str) -> None:
        here, there = TRANSPORT[over]
        self.transport = transport
        self.end = Endpoint(GROUND.right, LINK, "mp", there)
        self.end.up()
        self.daemons = [self.end.socket]
        self.senders: list[socket.socket] = []
        self.keys: list[str] = []
        if transport == "tcp":
            self.daemons = [self._stream(here) for _ in range(PEERS)]
        for peer in range(1, PEERS + 1):
            inner = vpn(f"10.9.0.{10 + peer}") + vpn(f"fd09::{0x10 + peer:x}")
            if transport == "tcp":
                attrs = peer_attrs(peer, None, self.daemons[peer - 1], inner)
            else:
                pool = [self._sender(here, over) for _ in range(2)]
                self.senders += pool
                attrs = peer_attrs(peer, (here, pool[0].getsockname()[1]), self.end.socket, inner)
            self.end.family.peer(ov.Cmd.PEER_NEW, self.end.index, *attrs)
            self._key(peer, ov.Slot.PRIMARY)
            self._key(peer, ov.Slot.SECONDARY)
        self._routes()
        for daemon in self.daemons:
            daemon.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
        with GROUND.right.inside():
            self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 27)
        self.tap.bind((LINK, ETH_P_ALL))

    def _stream(self, here: str) -> socket.socket:
        """A connection for one peer; the far side is a sender."""
        end, far = connection(GROUND.right, GROUND.left, here)
        far.settimeout(None)
        self.senders.append(far)
        return end

    def _sender(self, here: str, over: int) -> socket.socket:
        with GROUND.left.inside():
            made = udp_socket(here)
        made.settimeout(None)
        made.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 22)
        # Long ones go in fragments.
        if over == 4:
            made.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 0)
        else:
            made.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0)
        made.connect(self.end.socket.getsockname()[:2])
        return made

    def _key(self, peer: int, slot: ov.Slot) -> None:
        number = 2 * peer + slot
        cipher, key_id = CIPHERS[number % len(CIPHERS)], number % 8
        self.end.key_new(peer, cipher, (100 + number, number), key_id, slot)
        material = direction(cipher_of(cipher)[1], number)
        name = "aes" if cipher.startswith("AES") else "chacha"
        self.keys.append(f"{peer}:{key_id}:{name}:{material.key.hex()}:{material.nonce_tail.hex()}")

    def _routes(self) -> None:
        """Networks of the peers, and a network behind each."""
        ip = GROUND.right.ip
        ip("route", "add", "10.9.0.0/24", "dev", LINK)
        ip("-6", "route", "add", "fd09::/64", "dev", LINK)
        for peer in range(1, PEERS + 1):
            ip("route", "add", f"10.{100 + peer}.0.0/16", "via", f"10.9.0.{10 + peer}", "dev", LINK, "onlink")
            ip("-6", "route", "add", f"fd0a:{peer:x}::/32", "via", f"fd09::{0x10 + peer:x}", "dev", LINK, "onlink")
        # Nobody may answer: what is received was seen by the tap, and ends here.
        GROUND.right.run("tc", "qdisc", "add", "dev", LINK, "clsact")
        GROUND.right.run("tc", "filter", "add", "dev", LINK, "ingress", "matchall", "action", "drop")

    def fuzz(self, seed: int, order: str) -> list[list[int]]:
        """Runs the program; its last lines say what the peers must have counted."""
        files = ([self.tap], self.daemons, self.senders)
        numbers = [",".join(str(file.fileno()) for file in some) for some in files]
        command = [PROGRAM, LINK, str(seed), str(DATAGRAMS), self.transport, order, *numbers, *self.keys]
        done = subprocess.run(
            ["taskset", "1", *command],
            pass_fds=[file.fileno() for some in files for file in some],
            capture_output=True,
            text=True,
            check=False,
        )
        for line in (done.stdout + done.stderr).splitlines():
            if line.startswith("#"):
                print(line, flush=True)
        if done.returncode != 0:
            ktap.fail(done.stderr)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("peer ")]
        return [[int(word) for word in line[1:]] for line in lines]

    def close(self) -> None:
        """Everything that was made."""
        for made in (*self.senders, self.tap):
            made.close()
        self.end.close()
        for made in self.daemons:
            made.close()


def case(over: int, order: str, transport: str = "udp") -> None:
    """Sends everything, then looks at peers and link."""
    target = Target(over, transport)
    lists = order == "any" and transport == "udp"
    # One by one, so that they are put together where they arrive.
    switch(GROUND.left, "va", "tx-udp-segmentation", not lists)
    switch(GROUND.right, "vb", "gro", lists)
    switch(GROUND.right, LINK, "gro", order == "any")
    before = target.end.counter("rx_packets")
    counted = target.fuzz(SEED + over, order)
    ktap.equal("peers", len(counted), PEERS)
    for peer, sender, *tallies in counted:
        told = target.end.get(peer)
        if transport == "udp":
            port = target.senders[sender].getsockname()[1]
            ktap.equal(f"port of peer {peer}", ov.port(told[ov.Peer.REMOTE_PORT]), port)
        names = ("LINK_RX_PACKETS", "LINK_RX_BYTES", "VPN_RX_PACKETS", "VPN_RX_BYTES")
        ktap.equal(f"counters of peer {peer}", [nl.number(told[ov.Peer[name]]) for name in names], tallies)
        sent = [nl.number(told[ov.Peer[name.replace("RX", "TX")]]) for name in names]
        ktap.equal(f"sent to peer {peer}", sent, [0] * 4)
    ktap.equal("packets of the link", target.end.counter("rx_packets") - before, sum(one[4] for one in counted))
    target.close()


@ktap.case("over IPv4, in order")
def exact4() -> None:
    """The packets come out in the order of their records."""
    case(4, "exact")


@ktap.case("over IPv6, in order")
def exact6() -> None:
    """Longer headers, other fragments."""
    case(6, "exact")


@ktap.case("over IPv4, many at once")
def lists4() -> None:
    """GRO below and above the tunnel, which may exchange packets."""
    case(4, "any")


@ktap.case("over IPv6, many at once")
def lists6() -> None:
    """The same."""
    case(6, "any")


@ktap.case("over TCP, in pieces of any size")
def tcp() -> None:
    """Streams may overtake each other."""
    case(4, "any", "tcp")


if __name__ == "__main__":
    ktap.note(f"SEED={SEED} DATAGRAMS={DATAGRAMS}")
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
