#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Keys by netlink: two slots, and what does not go into them."""

from __future__ import annotations

import errno
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import nl
from endpoint import Endpoint, close_all, direction, multipeer, vpn
from namespace import Namespace, load_module

REMOTE = ("192.0.2.2", 1194)

load_module()
SPACE = Namespace("ovpn-netlink")
server = functools.partial(multipeer, SPACE)


@ktap.case("keys: two slots, swap, delete")
def keys() -> None:
    """What is told of a key is its id and cipher."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    family, index = end.family, end.index
    ktap.refused(errno.ENOENT, lambda: family.key_get(index, 1, ov.Slot.PRIMARY))
    end.key_new(1, "AES-256-GCM", (1, 2), 3)
    end.key_new(1, "CHACHA20-POLY1305", (3, 4), 4, ov.Slot.SECONDARY)
    expect_key(end, ov.Slot.PRIMARY, 3, ov.Cipher.AES_GCM)
    expect_key(end, ov.Slot.SECONDARY, 4, ov.Cipher.CHACHA20_POLY1305)
    family.key_swap(index, 1)
    expect_key(end, ov.Slot.PRIMARY, 4, ov.Cipher.CHACHA20_POLY1305)
    expect_key(end, ov.Slot.SECONDARY, 3, ov.Cipher.AES_GCM)
    family.key_del(index, 1, ov.Slot.SECONDARY)
    ktap.refused(errno.ENOENT, lambda: family.key_get(index, 1, ov.Slot.SECONDARY))
    family.key_del(index, 1, ov.Slot.SECONDARY)
    end.key_new(1, "AES-128-GCM", (5, 6), 5)
    expect_key(end, ov.Slot.PRIMARY, 5, ov.Cipher.AES_GCM)
    end.close()


@ktap.case("keys that make no sense are refused, and the old key stays")
def wrong_keys() -> None:
    """Sizes, ranges, missing parts, unknown peers."""
    end = server()
    end.peer_new(1, REMOTE, vpn("10.0.0.1"))
    end.key_new(1, "AES-256-GCM", (1, 2), 3)
    good = direction(32, 1)
    parts = {
        ov.Key.PEER_ID: nl.u32(ov.Key.PEER_ID, 1),
        ov.Key.SLOT: nl.u32(ov.Key.SLOT, 0),
        ov.Key.KEY_ID: nl.u32(ov.Key.KEY_ID, 1),
        ov.Key.CIPHER_ALG: nl.u32(ov.Key.CIPHER_ALG, 1),
        ov.Key.ENCRYPT_DIR: nl.nest(ov.Key.ENCRYPT_DIR, *good.attrs()),
        ov.Key.DECRYPT_DIR: nl.nest(ov.Key.DECRYPT_DIR, *good.attrs()),
    }

    def attempt(**changed: bytes | None):
        made = {**parts, **{ov.Key[name]: value for name, value in changed.items()}}
        given = [value for value in made.values() if value is not None]
        return lambda: end.family.key(ov.Cmd.KEY_NEW, end.index, *given)

    for name in ov.Key:
        refusal = ktap.refused(errno.EINVAL, attempt(**{name.name: None}))
        ktap.equal("missing", refusal.missing, name)
    short = nl.nest(ov.Key.ENCRYPT_DIR, *direction(15, 1).attrs())
    tail = nl.nest(ov.Key.ENCRYPT_DIR, nl.attr(1, bytes(32)), nl.attr(2, bytes(7)))
    none = nl.nest(ov.Key.ENCRYPT_DIR, nl.attr(2, bytes(8)))
    huge = nl.nest(ov.Key.ENCRYPT_DIR, nl.attr(1, bytes(257)), nl.attr(2, bytes(8)))
    ktap.refused(errno.EINVAL, attempt(ENCRYPT_DIR=short))
    ktap.refused(errno.EINVAL, attempt(ENCRYPT_DIR=none))
    ktap.refused(errno.ERANGE, attempt(ENCRYPT_DIR=tail))
    ktap.refused(errno.ERANGE, attempt(ENCRYPT_DIR=huge))
    ktap.refused(errno.EINVAL, attempt(CIPHER_ALG=nl.u32(ov.Key.CIPHER_ALG, 0)))
    ktap.refused(errno.ERANGE, attempt(CIPHER_ALG=nl.u32(ov.Key.CIPHER_ALG, 3)))
    ktap.refused(errno.ERANGE, attempt(SLOT=nl.u32(ov.Key.SLOT, 2)))
    ktap.refused(errno.ERANGE, attempt(KEY_ID=nl.u32(ov.Key.KEY_ID, 8)))
    ktap.refused(errno.ENOENT, attempt(PEER_ID=nl.u32(ov.Key.PEER_ID, 9)))
    ktap.refused(errno.ENOENT, lambda: end.family.key_swap(end.index, 9))
    ktap.refused(errno.ENOENT, lambda: end.family.key_del(end.index, 9, ov.Slot.PRIMARY))
    ktap.refused(errno.ENOENT, lambda: end.family.key_get(end.index, 9, ov.Slot.PRIMARY))
    expect_key(end, ov.Slot.PRIMARY, 3, ov.Cipher.AES_GCM)
    end.close()


def expect_key(end: Endpoint, slot: ov.Slot, key_id: int, cipher: ov.Cipher) -> None:
    """The slot's key as the driver tells it."""
    key = end.family.key_get(end.index, 1, slot)
    told = {ov.Key(name): nl.number(value) for name, value in key.items()}
    wanted = {
        ov.Key.PEER_ID: 1,
        ov.Key.SLOT: slot,
        ov.Key.KEY_ID: key_id,
        ov.Key.CIPHER_ALG: cipher,
    }
    ktap.equal(f"key in slot {slot.name}", told, wanted)


if __name__ == "__main__":
    code = ktap.run(close_all)
    SPACE.delete()
    sys.exit(code)
