# SPDX-License-Identifier: GPL-2.0
"""Records with anything inside, sealed by OpenSSL with a tunnel's key."""

from __future__ import annotations

import ctypes
import struct
import weakref

import family as ov
from endpoint import direction
from wiretap import DATA_V2

CIPHER = "CHACHA20-POLY1305"
UNDEFINED_PEER = 0xFFFFFF

TAG = 16
GET_TAG = 0x10

_CRYPTO = ctypes.CDLL("libcrypto.so.3")
# By their names for the tunnel; keys have 32 bytes.
_CIPHERS = {"AES-256-GCM": _CRYPTO.EVP_aes_256_gcm, CIPHER: _CRYPTO.EVP_chacha20_poly1305}
for _function in (_CRYPTO.EVP_CIPHER_CTX_new, *_CIPHERS.values()):
    _function.restype = ctypes.c_void_p
_CRYPTO.EVP_CIPHER_CTX_free.argtypes = [ctypes.c_void_p]
_CRYPTO.EVP_EncryptInit_ex.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
_CRYPTO.EVP_EncryptUpdate.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_CRYPTO.EVP_EncryptFinal_ex.argtypes = [ctypes.c_void_p] * 3
_CRYPTO.EVP_CIPHER_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]


class Seal:
    """One direction of a key, outside of the driver."""

    def __init__(self, key: ov.Direction, cipher: str = "AES-256-GCM") -> None:
        self._key = key
        self._cipher = _CIPHERS[cipher]
        self._context = _CRYPTO.EVP_CIPHER_CTX_new()
        weakref.finalize(self, _CRYPTO.EVP_CIPHER_CTX_free, self._context)

    def record(self, inside: bytes, packet_id: int, peer: int, key_id: int = 0) -> bytes:
        """A DATA_V2 record: head and packet id in the clear, the tag, what is inside."""
        head = struct.pack(">II", DATA_V2 << 27 | key_id << 24 | peer, packet_id)
        sealed, tag = ctypes.create_string_buffer(len(inside) + 1), ctypes.create_string_buffer(TAG)
        nonce = head[4:] + self._key.nonce_tail
        self._do("EVP_EncryptInit_ex", self._cipher(), None, self._key.key, nonce)
        self._update(None, head)
        self._update(sealed, inside)
        self._do("EVP_EncryptFinal_ex", sealed, ctypes.byref(ctypes.c_int()))
        self._do("EVP_CIPHER_CTX_ctrl", GET_TAG, TAG, tag)
        return head + tag.raw + sealed.raw[: len(inside)]

    def _update(self, out: ctypes.Array[ctypes.c_char] | None, data: bytes) -> None:
        self._do("EVP_EncryptUpdate", out, ctypes.byref(ctypes.c_int()), data, len(data))

    def _do(self, name: str, *arguments: object) -> None:
        if getattr(_CRYPTO, name)(self._context, *arguments) != 1:
            raise RuntimeError(f"{name} failed")


class Sealer:
    """A sender's key: makes records with packet ids that count from 1."""

    def __init__(self, peer_id: int, seed: int, key_id: int = 0) -> None:
        self._seal = Seal(direction(32, seed), CIPHER)
        self._peer_id, self._key_id = peer_id, key_id
        self.last = 0

    def seal(self, payload: bytes, packet_id: int | None = None) -> bytes:
        """The record of a payload, with the next packet id or the one given."""
        if packet_id is None:
            self.last += 1
            packet_id = self.last
        return self._seal.record(payload, packet_id, self._peer_id, self._key_id)
