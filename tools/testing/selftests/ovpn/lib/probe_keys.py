# SPDX-License-Identifier: GPL-2.0
"""Good and bad requests about keys."""

from __future__ import annotations

from collections.abc import Iterator

import ask
import family as ov
import nl
from ask import key
from endpoint import Endpoint
from family import Cmd, Key, KeyDir
from probe import Answer, probes
from probe_peers import named, prepared, space

NEW, GET, SWAP, DEL = Cmd.KEY_NEW, Cmd.KEY_GET, Cmd.KEY_SWAP, Cmd.KEY_DEL


def direction(size: int, tail: int = ov.NONCE_TAIL_SIZE) -> list[bytes]:
    """Key material of that size."""
    return [nl.attr(KeyDir.CIPHER_KEY, bytes(size)), nl.attr(KeyDir.NONCE_TAIL, bytes(tail))]


def new(**changes: bytes | None) -> bytes:
    """A good new key, save for what is changed or left out."""
    parts: dict[str, bytes | None] = {
        "peer": nl.u32(Key.PEER_ID, 1),
        "slot": nl.u32(Key.SLOT, 0),
        "key": nl.u32(Key.KEY_ID, 0),
        "cipher": nl.u32(Key.CIPHER_ALG, ov.Cipher.AES_GCM),
        "encrypt": nl.nest(Key.ENCRYPT_DIR, *direction(32)),
        "decrypt": nl.nest(Key.DECRYPT_DIR, *direction(32)),
        **changes,
    }
    return key(*(part for part in parts.values() if part is not None))


def both(*attrs: bytes) -> dict[str, bytes | None]:
    """The same material in both directions."""
    return {
        "encrypt": nl.nest(Key.ENCRYPT_DIR, *attrs),
        "decrypt": nl.nest(Key.DECRYPT_DIR, *attrs),
    }


CHACHA = nl.u32(Key.CIPHER_ALG, ov.Cipher.CHACHA20_POLY1305)
TAIL = nl.attr(KeyDir.NONCE_TAIL, bytes(8))
KEYS: dict[str, bytes] = {
    "good": new(),
    **{f"no-{part}": new(**{part: None}) for part in ("peer", "slot", "key", "cipher", "encrypt", "decrypt")},
    "empty": key(),
    "no-such-peer": new(peer=nl.u32(Key.PEER_ID, 77)),
    "peer-too-large": new(peer=nl.u32(Key.PEER_ID, 0x1000000)),
    "secondary": new(slot=nl.u32(Key.SLOT, 1)),
    "slot-2": new(slot=nl.u32(Key.SLOT, 2)),
    "key-7": new(key=nl.u32(Key.KEY_ID, 7)),
    "key-8": new(key=nl.u32(Key.KEY_ID, 8)),
    "cipher-0": new(cipher=nl.u32(Key.CIPHER_ALG, 0)),
    "cipher-0-without-material": new(
        cipher=nl.u32(Key.CIPHER_ALG, 0), **both()
    ),
    "cipher-3": new(cipher=nl.u32(Key.CIPHER_ALG, 3)),
    **{f"aes-{size}": new(**both(*direction(size))) for size in (0, 1, 15, 16, 17, 24, 31, 32, 33, 64, 256, 257)},
    **{f"chacha-{size}": new(cipher=CHACHA, **both(*direction(size))) for size in (0, 16, 31, 32, 33, 256)},
    **{f"tail-{size}": new(**both(*direction(32, size))) for size in (0, 7, 9, 12)},
    "sizes-differ": new(encrypt=nl.nest(Key.ENCRYPT_DIR, *direction(16))),
    "empty-directions": new(**both()),
    "no-tail": new(**both(nl.attr(KeyDir.CIPHER_KEY, bytes(32)))),
    "no-material": new(**both(TAIL)),
    "one-direction-bad": new(decrypt=nl.nest(Key.DECRYPT_DIR, *direction(15))),
    "flat-direction": new(encrypt=nl.attr(Key.ENCRYPT_DIR, b"".join(direction(32)))),
    "unknown-in-direction": new(**both(*direction(32), nl.u32(3, 1))),
    "unknown": new(more=nl.u32(7, 1)),
    "flat": nl.attr(ov.Top.KEYCONF, new()[4:]),
}


@probes("request/key-new")
def installing() -> Iterator[Answer]:
    """Into empty slots."""
    with space() as there:
        fresh = ask.Fresh(there, "mp", prepared)
        for what, attrs in KEYS.items():
            end = fresh.end()
            answer = ask.ask(end, NEW, ask.index(end), attrs)
            answer["slots"] = slots(end)
            yield what, fresh.used(answer)
        end = fresh.end()
        for what, attrs in {"no-interface": [new()], "no-keyconf": [ask.index(end)]}.items():
            yield what, ask.ask(end, NEW, *attrs)
        fresh.close()


def slots(end: Endpoint) -> list[dict[str, object]]:
    """What is told of both."""
    peer = nl.u32(Key.PEER_ID, 1)
    return [ask.ask(end, GET, ask.index(end), key(peer, nl.u32(Key.SLOT, n))) for n in (0, 1)]


@probes("request/keys")
def life() -> Iterator[Answer]:
    """A sequence of good requests: after each one both slots are looked at."""
    with space() as there:
        fresh = ask.Fresh(there, "mp", prepared)
        end = fresh.end()
        peer = nl.u32(Key.PEER_ID, 1)
        first, second = nl.u32(Key.SLOT, 0), nl.u32(Key.SLOT, 1)
        steps: list[tuple[str, Cmd, bytes]] = [
            ("swap-none", SWAP, key(peer)),
            ("delete-none", DEL, key(peer, first)),
            ("first", NEW, new()),
            ("swap-one", SWAP, key(peer)),
            ("delete-empty", DEL, key(peer, first)),
            ("swap-back", SWAP, key(peer)),
            ("second", NEW, new(slot=second, key=nl.u32(Key.KEY_ID, 1), cipher=CHACHA)),
            ("swap", SWAP, key(peer)),
            ("replace", NEW, new(key=nl.u32(Key.KEY_ID, 2))),
            ("same-id", NEW, new(slot=second, key=nl.u32(Key.KEY_ID, 2))),
            ("failed-replace", NEW, new(**both(*direction(15)))),
            ("delete", DEL, key(peer, first)),
            ("delete-again", DEL, key(peer, first)),
            ("delete-second", DEL, key(peer, second)),
        ]
        for what, command, attrs in steps:
            answer = ask.ask(end, command, ask.index(end), attrs)
            answer["slots"] = slots(end)
            yield what, answer
        fresh.close()


@probes("request")
def malformed() -> Iterator[Answer]:
    """What is wrong with the other requests about keys."""
    peer, slot = nl.u32(Key.PEER_ID, 1), nl.u32(Key.SLOT, 0)
    wrong: dict[str, list[bytes]] = {
        "empty": [],
        "no-peer": [slot],
        "no-slot": [peer],
        "slot-2": [peer, nl.u32(Key.SLOT, 2)],
        "no-such-peer": [nl.u32(Key.PEER_ID, 77), slot],
        "no-such-peer-alone": [nl.u32(Key.PEER_ID, 77)],
        "peer-too-large": [nl.u32(Key.PEER_ID, 0x1000000), slot],
        "key-id": [peer, slot, nl.u32(Key.KEY_ID, 0)],
        "cipher": [peer, slot, nl.u32(Key.CIPHER_ALG, 1)],
        "direction": [peer, slot, nl.nest(Key.ENCRYPT_DIR, *direction(32))],
        "0": [peer, slot, nl.u32(0, 1)],
        "unknown": [peer, slot, nl.u32(7, 1)],
        "short-slot": [peer, nl.attr(Key.SLOT, b"\0")],
    }
    with space() as there:
        fresh = ask.Fresh(there, "mp", prepared)
        for command in (GET, SWAP, DEL):
            for what, attrs in wrong.items():
                end = fresh.end()
                yield f"{named(command)}/{what}", fresh.used(ask.ask(end, command, ask.index(end), key(*attrs)))
            end = fresh.end()
            yield f"{named(command)}/no-interface", ask.ask(end, command, key(peer))
            yield f"{named(command)}/no-keyconf", ask.ask(end, command, ask.index(end))
            other = nl.u32(ov.Top.IFINDEX, 1)
            yield f"{named(command)}/other-interface", ask.ask(end, command, other, key(peer, slot))
        fresh.close()
