# SPDX-License-Identifier: GPL-2.0
"""Flows from left to right whose every byte is looked at."""

from __future__ import annotations

import hashlib
import os
import socket
import threading

import ktap
from namespace import Namespace
from pace import fewer, patience
from pair import INNER_LEFT, INNER_RIGHT, Pair

PORT = 5001
UDP_SEGMENT = 103
SO_RCVBUFFORCE = 33
SO_SNDBUFFORCE = 32
TIMEOUT = patience(60)
MIB = 1 << 20
# A flow that is long enough to be sent in bursts.
FLOW = fewer(MIB)


def listener(space: Namespace, address: str) -> socket.socket:
    """A TCP socket that waits for one connection."""
    with space.inside():
        made = tcp_socket(address)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, PORT))
    made.listen(1)
    return made


def tcp_socket(address: str) -> socket.socket:
    """A TCP socket of the address's family."""
    made = socket.socket(family_of(address), socket.SOCK_STREAM)
    made.settimeout(TIMEOUT)
    return made


def family_of(address: str) -> socket.AddressFamily:
    """The family of an address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class Sink:
    """The receiving end of a TCP flow: what it gets is hashed."""

    def __init__(self, space: Namespace, address: str) -> None:
        self._listener = listener(space, address)
        self._hash = hashlib.sha256()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        accepted, _ = self._listener.accept()
        accepted.settimeout(TIMEOUT)
        while got := accepted.recv(MIB):
            self._hash.update(got)
        accepted.close()

    def result(self) -> str:
        """The hash of all, once the sender has closed."""
        self._thread.join(TIMEOUT)
        alive = self._thread.is_alive()
        self._listener.close()
        if alive:
            ktap.fail(f"the TCP flow did not end within {TIMEOUT} s")
        return self._hash.hexdigest()


def tcp(pair: Pair, inner: int = 4, total: int = FLOW) -> None:
    """TCP through a tunnel, from left to right."""
    tcp_to(pair.left.space, pair.right.space, INNER_RIGHT[inner], total)


def tcp_to(sender: Namespace, receiver: Namespace, address: str, total: int = FLOW) -> None:
    """Random bytes in a TCP connection must arrive as they were."""
    sink = Sink(receiver, address)
    with sender.inside():
        source = tcp_socket(address)
    source.connect((address, PORT))
    data = os.urandom(total)
    source.sendall(data)
    source.close()
    ktap.equal(f"hash of {total} bytes over TCP", sink.result(), hashlib.sha256(data).hexdigest())


def both_ways(pair: Pair, total: int, inner: int = 4) -> None:
    """TCP in both directions of a tunnel at the same time."""
    sinks = Sink(pair.right.space, INNER_RIGHT[inner]), Sink(pair.left.space, INNER_LEFT[inner])
    sources = []
    for end, address in ((pair.left, INNER_RIGHT[inner]), (pair.right, INNER_LEFT[inner])):
        with end.space.inside():
            sources.append(tcp_socket(address))
        sources[-1].connect((address, PORT))
    data = os.urandom(total)
    senders = [threading.Thread(target=_send, args=(source, data)) for source in sources]
    for sender in senders:
        sender.start()
    for sender, sink in zip(senders, sinks):
        sender.join(TIMEOUT)
        ktap.equal(f"hash of {total} bytes over TCP", sink.result(), hashlib.sha256(data).hexdigest())


def _send(source: socket.socket, data: bytes) -> None:
    source.sendall(data)
    source.close()


class Datagrams:
    """A UDP flow; a burst is sent only after the one before has arrived."""

    def __init__(self, pair: Pair, inner: int = 4) -> None:
        with pair.right.space.inside():
            self.target = udp_socket(INNER_RIGHT[inner])
        with pair.left.space.inside():
            self.source = udp_socket(INNER_LEFT[inner])
        self.target.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 * MIB)
        self.source.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 8 * MIB)
        self._to = self.target.getsockname()

    def close(self) -> None:
        """Both sockets."""
        self.source.close()
        self.target.close()

    def send(self, data: bytes, size: int | None) -> None:
        """In one datagram, or in many of one size."""
        self.source.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size or 0)
        self.source.sendto(data, self._to)

    def burst(self, total: int, size: int | None = None) -> int:
        """Random bytes must arrive as they were, cut at the size; in how many datagrams."""
        data = os.urandom(total)
        self.send(data, size)
        step = size or total
        for at in range(0, total, step):
            try:
                got = self.target.recv(65535)
            except TimeoutError:
                ktap.fail(f"the datagram at {at} of {total} bytes cut at {step} did not arrive")
            if got != data[at : at + step]:
                ktap.fail(f"the datagram at {at} of {total} bytes cut at {step} is not what was sent")
        return len(range(0, total, step))


def udp_socket(address: str, port: int = 0) -> socket.socket:
    """A UDP socket on an address, with a time limit."""
    made = socket.socket(family_of(address), socket.SOCK_DGRAM)
    made.settimeout(patience(10))
    made.bind((address, port))
    return made


def udp(pair: Pair, inner: int, size: int, bursts: int = 5) -> int:
    """Bursts of UDP, of as many datagrams of the size as fit, and shorter ones; how many in all."""
    flow = Datagrams(pair, inner)
    most = 64_000 // size
    sent = 0
    for number in range(bursts):
        count = max(2, most - number)
        sent += flow.burst(count * size - number * 7, size)
    for total in (1, size, size // 2):
        sent += flow.burst(total)
    flow.close()
    return sent
