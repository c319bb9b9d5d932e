#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Lifetimes under fire: links, peers, keys, sockets and namespaces come and go at
random while traffic, rubbish and attempts to unload the module go on.

SECONDS says how long (180), SEED with which dice. The debug kernel sees what breaks.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import socket
import struct
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
from churner import FIRST_PORT, LINKS, Churner
from endpoint import Endpoint
from namespace import Namespace, load_module, run

SECONDS = float(os.environ.get("SECONDS", "180"))
SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
CHURNERS = 4
SINK_PORT = 7000
SYS_DELETE_MODULE = 176
LIBC = ctypes.CDLL(None, use_errno=True)

# The kernel would load its own driver when somebody asks for the family.
os.makedirs("/run/modprobe.d", exist_ok=True)
with open("/run/modprobe.d/ovpn.conf", "w", encoding="utf-8") as file:
    file.write("install ovpn /bin/false\n")
load_module()
LEFT = Namespace("ovpn-left")
RIGHT = Namespace("ovpn-right")
LEFT.ip("link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", RIGHT.name)
for space, name, host in ((LEFT, "va", 1), (RIGHT, "vb", 2)):
    space.ip("address", "add", f"192.0.2.{host}/24", "dev", name)
    space.ip("address", "add", f"2001:db8::{host}/64", "dev", name, "nodad")
    space.ip("link", "set", name, "up")


def churn(number: int, dice: random.Random, until: float) -> list[str]:
    """Everything that netlink can do."""
    churner = Churner(number, LEFT, RIGHT, dice)
    while time.monotonic() < until:
        churner.step()
    churner.close()
    print(f"# {number}: {churner.steps} steps, done {churner.done}", flush=True)
    return churner.unexpected


def talk(number: int, dice: random.Random, until: float) -> list[str]:
    """Datagrams through the tunnels, both ways, small and larger than a record."""
    del number
    ends = []
    for space, other in ((LEFT, 2), (RIGHT, 1)):
        with space.inside():
            ends.append((socket.socket(socket.AF_INET, socket.SOCK_DGRAM), f"10.{{}}.0.{other}"))
            ends.append((socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), f"fd00:{{}}::{other}"))
    sent = 0
    while time.monotonic() < until:
        end, address = dice.choice(ends)
        with contextlib.suppress(OSError):
            for _ in range(dice.choice((1, 20))):
                size = dice.choice((0, 64, 1000, 1400, 5000))
                end.sendto(bytes(size), (address.format(dice.randrange(len(LINKS))), 9))
                sent += 1
        time.sleep(0.01)
    print(f"# datagrams into the tunnels: {sent}", flush=True)
    return [] if sent else ["no datagram went into a tunnel: there was no fire"]


def abort_at_close(tcp: socket.socket) -> None:
    """Else it would go on sending for minutes, and keep its namespace so long."""
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stream(number: int, dice: random.Random, until: float) -> list[str]:
    """TCP through the tunnels: large bursts, and connections that hang when the tunnel goes."""
    del number
    total = 0
    while time.monotonic() < until:
        with LEFT.inside():
            sender = socket.socket()
        sender.settimeout(1)
        abort_at_close(sender)
        with contextlib.suppress(OSError), sender:
            sender.connect((f"10.{dice.randrange(len(LINKS))}.0.2", SINK_PORT))
            for _ in range(64):
                total += sender.send(bytes(1 << 16))
        time.sleep(0.05)
    print(f"# bytes into TCP: {total}", flush=True)
    return []


def sink(number: int, dice: random.Random, until: float) -> list[str]:
    """The other end of the streams."""
    del number, dice
    with RIGHT.inside():
        listener = socket.create_server(("", SINK_PORT))
    listener.settimeout(0.5)
    total = 0
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            taken, _ = listener.accept()
            taken.settimeout(1)
            abort_at_close(taken)
            with taken:
                while data := taken.recv(1 << 16):
                    total += len(data)
    print(f"# bytes out of TCP: {total}", flush=True)
    return []


def rubbish(number: int, dice: random.Random, until: float) -> list[str]:
    """Datagrams to the tunnels' sockets: every opcode, existing peers, wrong everything."""
    del number
    with LEFT.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while time.monotonic() < until:
        opcode = dice.choice((6, 9, 9, 9, 9, dice.randrange(32)))
        word = opcode << 27 | dice.randrange(8) << 24 | dice.choice((0, 1, 2, 3, 0xFFFFFF))
        record = struct.pack(">II", word, dice.randrange(1 << 32)) + dice.randbytes(dice.choice((0, 3, 16, 40, 1400)))
        with contextlib.suppress(OSError):
            record = record[: dice.choice((len(record), dice.randrange(9)))]
            sender.sendto(record, ("192.0.2.2", FIRST_PORT + dice.randrange(CHURNERS * len(LINKS))))
        time.sleep(0.01)
    return []


def namespaces(number: int, dice: random.Random, until: float) -> list[str]:
    """A namespace that dies with a link, a peer and a socket in it."""
    while time.monotonic() < until:
        space = Namespace("ovpn-brief")
        with contextlib.suppress(OSError, RuntimeError):
            end = Endpoint(space, "brief", dice.choice(("p2p", "mp")), "127.0.0.1")
            end.peer_new(number, ("127.0.0.1", end.port()))
            end.key_new(number, "AES-256-GCM", (1, 1))
            end.up("10.7.0.1/24")
            if dice.random() < 0.5:
                space.delete()
                end.socket.close()
            else:
                end.socket.close()
            end.family.close()
        if os.path.exists("/run/netns/ovpn-brief"):
            space.delete()
        time.sleep(0.5)
    return []


def unload(number: int, dice: random.Random, until: float) -> list[str]:
    """Unloads when nothing uses the module, which is seldom, and loads it again."""
    del number
    unloaded = 0
    while time.monotonic() < until:
        time.sleep(dice.random())
        if dice.random() < 0.03:
            for space in (LEFT, RIGHT):
                for name in LINKS:
                    with contextlib.suppress(OSError), space.inside():
                        link.delete(name)
        if LIBC.syscall(SYS_DELETE_MODULE, b"ovpn", os.O_NONBLOCK) == 0:
            unloaded += 1
            load_module()
            # Whatever uses it shall have the time to come back.
            time.sleep(10)
    print(f"# unloaded: {unloaded}", flush=True)
    return []


def clock(number: int, dice: random.Random, until: float) -> list[str]:
    """Tells whoever watches that it goes on."""
    del number, dice
    while (left := until - time.monotonic()) > 0:
        print(f"# {left:.0f} s to go", flush=True)
        time.sleep(min(left, 60))
    return []


def worker(part: Callable[..., list[str]], number: int, until: float, results: multiprocessing.Queue) -> None:
    """A process: its own dice, its findings into the queue."""
    try:
        found = part(number, random.Random(SEED * 100 + number), until)
    except BaseException as error:  # pylint: disable=broad-except
        found = [repr(error)]
    results.put([f"{part.__name__}: {text}" for text in found])


@ktap.case("links, peers, keys, sockets and namespaces come and go under traffic")
def lifetimes() -> None:
    """All at once; no request may hang or be refused without a reason."""
    ktap.note(f"seed {SEED}, {SECONDS:.0f} seconds")
    parts = [churn] * CHURNERS + [talk, stream, sink, rubbish, namespaces, unload, clock]
    results: multiprocessing.Queue = multiprocessing.Queue()
    until = time.monotonic() + SECONDS
    processes = [
        multiprocessing.Process(target=worker, args=(part, number, until, results))
        for number, part in enumerate(parts)
    ]
    for process in processes:
        process.start()
    findings = [text for _ in processes for text in results.get(timeout=SECONDS + 120)]
    for process in processes:
        process.join()
    for text in findings[:20]:
        ktap.note(text)
    ktap.equal("findings", len(findings), 0)


@ktap.case("everything can be taken away afterwards, and works anew")
def afterwards() -> None:
    """Namespaces, module, and a tunnel that passes a packet."""
    LEFT.delete()
    RIGHT.delete()
    end = time.monotonic() + 30
    while LIBC.syscall(SYS_DELETE_MODULE, b"ovpn", os.O_NONBLOCK) != 0:
        if time.monotonic() > end:
            ktap.fail(f"the module cannot be unloaded: {os.strerror(ctypes.get_errno())}")
        time.sleep(0.2)
    load_module()
    family = ov.Family()
    family.close()
    run("rmmod", "ovpn")


sys.exit(ktap.run())
