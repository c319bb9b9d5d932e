#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""SCTP sends bursts whose packets differ in size; they arrive message by message."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import ktap
from capture import Capture, Ids
from ground import Ground
from namespace import Namespace, load_module
from pair import INNER_RIGHT, RIGHT_PEER, Pair, Setting, pair

SCTP = socket.IPPROTO_SCTP
PORT = 5001
MESSAGES = 120
LONGEST = 20_000
SEED = 7
TRACE = Path("/sys/kernel/tracing")
EVENT = TRACE / "events/net/net_dev_start_xmit"
# The kernel's SKB_GSO_SCTP; the size says that the packets differ.
GSO_SCTP, BY_FRAGMENTS = "gso_type=0x4000", "gso_size=65535"

load_module()
GROUND = Ground()


class Flow:
    """An SCTP association from left to right."""

    def __init__(self, made: Pair, inner: int) -> None:
        address = INNER_RIGHT[inner]
        listener = sctp_socket(made.right.space, inner)
        listener.bind((address, PORT))
        listener.listen(1)
        self.source = sctp_socket(made.left.space, inner)
        self.source.connect((address, PORT))
        self.target, _ = listener.accept()
        self.target.settimeout(60)
        listener.close()

    def close(self) -> None:
        """Both ends."""
        self.source.close()
        self.target.close()

    def message(self) -> bytes:
        """The next message that arrives, whole."""
        got = b""
        while True:
            part, _, flags, _ = self.target.recvmsg(1 << 17)
            if not part:
                ktap.fail(f"the association ended within a message, after {len(got)} bytes")
            got += part
            if flags & socket.MSG_EOR:
                return got


def sctp_socket(space: Namespace, inner: int) -> socket.socket:
    """One association a socket."""
    with space.inside():
        made = socket.socket(socket.AF_INET6 if inner == 6 else socket.AF_INET, socket.SOCK_STREAM, SCTP)
    made.settimeout(60)
    return made


def messages() -> Iterator[bytes]:
    """The same each time: short ones, which share packets, and ones of many packets."""
    dice = random.Random(SEED)
    for _ in range(MESSAGES):
        yield dice.randbytes(dice.choice((dice.randint(1, 200), dice.randint(1, LONGEST))))


def flow(made: Pair, inner: int) -> None:
    """Every message must arrive as it was, in order."""
    one = Flow(made, inner)
    sender = threading.Thread(target=lambda: [one.source.send(data) for data in messages()], daemon=True)
    sender.start()
    for number, data in enumerate(messages(), 1):
        if (got := one.message()) != data:
            ktap.fail(f"message {number} of {len(data)} bytes arrived as {len(got)} others")
    sender.join()
    one.close()


class Given:
    """What the stack gives to a device, by the kernel's tracing."""

    def __init__(self, link: str) -> None:
        (EVENT / "filter").write_text(f'name == "{link}"')
        (EVENT / "enable").write_text("1")
        (TRACE / "trace").write_text("")

    def bursts(self) -> int:
        """How many bursts of SCTP there were; ends the tracing."""
        (EVENT / "enable").write_text("0")
        (EVENT / "filter").write_text("0")
        lines = (TRACE / "trace").read_text().splitlines()
        return sum(GSO_SCTP in line and BY_FRAGMENTS in line for line in lines)


def exact(setting: Setting, inner: int) -> None:
    """All messages arrive, the driver was given bursts, and what it sent is well-formed."""
    with pair(GROUND, setting) as made:
        capture = Capture(GROUND.left, "va")
        given = Given(made.left.name)
        flow(made, inner)
        bursts = given.bursts()
        ids = Ids(RIGHT_PEER)
        for packet in capture.sent():
            if packet.source == made.left.port():
                for record in packet.payloads:
                    ids.check(record)
        capture.close()
        ktap.note(f"{setting}, IPv{inner} inside: {bursts} bursts, {ids.seen} records")
        if bursts < 3:
            ktap.fail(f"the driver was given {bursts} bursts of SCTP, so this proves nothing")
        ktap.equal("drops", (made.left.counter("tx_dropped"), made.right.counter("rx_dropped")), (0, 0))


@ktap.case("messages arrive one by one, over IPv4 and IPv6, AES and ChaCha20")
def ciphers() -> None:
    """Inner IPv4 and IPv6 each."""
    for inner in (4, 6):
        exact(Setting(), inner)
        exact(Setting("CHACHA20-POLY1305", over=6), inner)


@ktap.case("and where the device below cuts no bursts, or has another MTU")
def devices() -> None:
    """Smaller than the records: they go in fragments."""
    exact(Setting(segmentation=False), 4)
    exact(Setting(mtu=1280, lower_mtu=9000), 6)


if __name__ == "__main__":
    code = ktap.run()
    GROUND.close()
    sys.exit(code)
