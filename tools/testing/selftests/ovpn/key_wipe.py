#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""No key stays in memory once it is gone.

The whole memory of the machine is searched for keys and tails of nonces. This process
has none in the clear (see secret.py). The kernel's copy of a request is not wiped when it
is freed; requests without secrets take its place before the search.
"""

from __future__ import annotations

import errno
import functools
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import nl
from endpoint import Endpoint, close_all, multipeer, vpn
from namespace import Namespace, load_module, ours
from secret import KCORE, Secret, find

REMOTE = ("192.0.2.2", 1194)
KEY_SIZE = 32
NO_COMMAND = 200
# One for each that the allocator of one CPU may have at hand.
REPLACED = 64

load_module()
SPACE = Namespace("ovpn-wipe")
server = functools.partial(multipeer, SPACE)
# What one CPU has freed it uses first.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Material:
    """A random key, the same in both directions."""

    def __init__(self, what: str, cipher: ov.Cipher = ov.Cipher.AES_GCM) -> None:
        self.cipher = cipher
        self.secrets = [Secret(f"{what} key", KEY_SIZE), Secret(f"{what} tail", ov.NONCE_TAIL_SIZE)]

    def request(self, end: Endpoint, peer: int, slot: ov.Slot) -> bytes:
        """With stand-ins for what is secret."""
        key, tail = (secret.stand_in for secret in self.secrets)
        inner = nl.attr(ov.KeyDir.CIPHER_KEY, key) + nl.attr(ov.KeyDir.NONCE_TAIL, tail)
        return struct.pack("=BBH", ov.Cmd.KEY_NEW, ov.FAMILY_VERSION, 0) + nl.u32(ov.Top.IFINDEX, end.index) + nl.nest(
            ov.Top.KEYCONF,
            nl.u32(ov.Key.PEER_ID, peer),
            nl.u32(ov.Key.SLOT, slot),
            nl.u32(ov.Key.KEY_ID, 1),
            nl.u32(ov.Key.CIPHER_ALG, self.cipher),
            nl.nest(ov.Key.ENCRYPT_DIR, inner),
            nl.nest(ov.Key.DECRYPT_DIR, inner),
        )


def install(end: Endpoint, material: Material, slot: ov.Slot = ov.Slot.PRIMARY, peer: int = 1) -> int:
    """Sends the request, wipes it, and lets others take its place in the kernel's memory. The
    error number comes back."""
    payload = material.request(end, peer, slot)
    head = struct.pack("=IHHII", 16 + len(payload), end.family.id, nl.NLM_F_REQUEST | nl.NLM_F_ACK, 1, 0)
    request = bytearray(head + payload)
    with SPACE.inside(), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, nl.NETLINK_GENERIC) as asking:
        # An answer without the request.
        asking.setsockopt(nl.SOL_NETLINK, nl.NETLINK_CAP_ACK, 1)
        for secret in material.secrets:
            secret.write_to(request)
        asking.send(request)
        for at in range(16, len(request)):
            request[at] = 0
        (code,) = struct.unpack_from("=i", asking.recv(1 << 16), 16)
        # The driver is not asked again: it has to wipe its stack itself.
        request[16] = NO_COMMAND
        for _ in range(REPLACED):
            asking.send(request)
            asking.recv(1 << 16)
    return -int(code)


def expect_gone(materials: list[Material]) -> None:
    """A key is freed a grace period after it was taken out."""
    secrets = [secret for material in materials for secret in material.secrets]
    if not ours():
        # The in-tree driver does not wipe tails.
        secrets = [secret for secret in secrets if secret.size == KEY_SIZE]
    found: dict[str, list[str]] = {}
    for _ in range(3):
        time.sleep(1)
        found = {what: places for what, places in find(secrets).items() if places}
        if not found:
            return
    ktap.fail(f"still in memory: {found}")


def needs_memory() -> None:
    """The stock kernel has it. On the debug one KASAN keeps the requests that were freed, too."""
    if not os.path.exists(KCORE):
        ktap.skip(f"this kernel has no {KCORE}")


@ktap.case("keys that are deleted, replaced or go with their peer or link leave nothing")
def wiped() -> None:
    """Each is there first, else the search would be blind."""
    needs_memory()
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    deleted, with_peer = Material("deleted"), Material("peer's")
    replaced = Material("replaced", ov.Cipher.CHACHA20_POLY1305)
    with_link = Material("link's", ov.Cipher.CHACHA20_POLY1305)
    ktap.equal("code", install(end, deleted), 0)
    ktap.equal("code", install(end, replaced, ov.Slot.SECONDARY), 0)
    found = find(deleted.secrets + replaced.secrets)
    ktap.note(f"while they are used: {found}")
    ktap.equal("each of them is in both directions", all(len(places) >= 2 for places in found.values()), True)
    end.family.key_del(end.index, 1, ov.Slot.PRIMARY)
    ktap.equal("code", install(end, with_peer, ov.Slot.SECONDARY), 0)
    end.family.peer_del(end.index, 1)
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    ktap.equal("code", install(end, with_link), 0)
    with SPACE.inside():
        link.delete(end.name)
    end.outlive()
    expect_gone([deleted, replaced, with_peer, with_link])


@ktap.case("keys that are refused leave nothing")
def refused() -> None:
    """By the driver, which has read the request to its end."""
    needs_memory()
    end = server()
    material = Material("refused")
    ktap.equal("code", install(end, material), errno.ENOENT)
    expect_gone([material])
    end.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    SPACE.delete()
    sys.exit(code)
