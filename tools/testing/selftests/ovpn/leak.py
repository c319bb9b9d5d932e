#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Nothing is left of module, link, peer and keys: memory is counted over many rounds.

What every round leaves behind shows as one object more for each of them. ROUNDS says how many.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import slab
from endpoint import cipher_of, direction, keepalive, peer_attrs, udp_socket, vpn
from namespace import load_module

ROUNDS = int(os.environ.get("ROUNDS", "200"))
WARM_UP = 20
SYS_DELETE_MODULE, SYS_FINIT_MODULE = 176, 313
LIBC = ctypes.CDLL(None, use_errno=True)
CIPHERS = ("AES-128-GCM", "CHACHA20-POLY1305")
REMOTE = ("127.0.0.1", 9)


def system(number: int, *arguments: object) -> None:
    """A system call that must succeed."""
    if LIBC.syscall(number, *arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unload() -> None:
    """As soon as nobody uses the module any more."""
    end = time.monotonic() + 20
    while True:
        try:
            return system(SYS_DELETE_MODULE, b"ovpn", os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def one_round(number: int, file: int) -> None:
    """The life of a tunnel, from loading the module to unloading it."""
    with contextlib.suppress(FileExistsError):
        system(SYS_FINIT_MODULE, file, b"", 0)
    mode = ("p2p", "mp")[number % 2]
    link.add("tun0", link.MODES[mode])
    index = link.index("tun0")
    family = ov.Family()
    family.listen()
    over = udp_socket("127.0.0.1")
    extra = [keepalive(10, 60)]
    if mode == "mp":
        extra += [vpn("10.9.0.2"), vpn("fd00::2")]
    family.peer(ov.Cmd.PEER_NEW, index, *peer_attrs(1, REMOTE, over, *extra))
    for slot, name in zip(ov.Slot, CIPHERS):
        cipher, size = cipher_of(name)
        family.key_new(index, 1, slot, slot, cipher, direction(size, 1), direction(size, 2))
    family.key_swap(index, 1)
    family.peer_get(index, 1)
    family.peer_dump(index)
    family.key_del(index, 1, ov.Slot.SECONDARY)
    if number % 3 == 0:
        family.peer_del(index, 1)
    if number % 3 == 1:
        over.close()
    link.delete("tun0")
    over.close()
    family.close()
    unload()


@ktap.case(f"{ROUNDS} rounds of module, link, peer and keys leave no memory behind")
def rounds() -> None:
    """A cache may have grown by less than an object a round."""
    load_module()
    file = os.open(os.environ["OVPN_MODULE"], os.O_RDONLY)
    for number in range(WARM_UP):
        one_round(number, file)
    before, percpu = slab.objects(), slab.percpu_kib()
    start = time.monotonic()
    for number in range(ROUNDS):
        one_round(number, file)
    took = time.monotonic() - start
    after = slab.objects()
    os.close(file)
    grown = {name: count - before.get(name, 0) for name, count in after.items()}
    most = sorted(grown.items(), key=lambda one: -one[1])[:5]
    ktap.note(f"{took:.0f} s; grown the most: " + ", ".join(f"{name} {count}" for name, count in most))
    ktap.note(f"per CPU: {percpu} kB, then {slab.percpu_kib()} kB")
    leaks = [name for name, count in grown.items() if count >= ROUNDS]
    ktap.equal("caches that grew by an object a round", leaks, [])
    if slab.percpu_kib() - percpu > ROUNDS // 2:
        ktap.fail("memory per CPU has grown")


if __name__ == "__main__":
    sys.exit(ktap.run())
