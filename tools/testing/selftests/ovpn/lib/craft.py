# SPDX-License-Identifier: GPL-2.0
"""Records with anything inside, sealed by OpenSSL with the tunnel's key."""

from __future__ import annotations

import ctypes
import socket
import struct

import family as ov
from wiretap import DATA_V2

TAG = 16
GET_TAG = 0x10
# What a keepalive says, as in the OpenVPN protocol.
PING = bytes.fromhex("2a187bf3641eb4cb07ed2d0a981fc748")

_CRYPTO = ctypes.CDLL("libcrypto.so.3")
for _name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
    getattr(_CRYPTO, _name).restype = ctypes.c_void_p
_CRYPTO.EVP_CIPHER_CTX_free.argtypes = [ctypes.c_void_p]
_CRYPTO.EVP_EncryptInit_ex.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
_CRYPTO.EVP_EncryptUpdate.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_CRYPTO.EVP_EncryptFinal_ex.argtypes = [ctypes.c_void_p] * 3
_CRYPTO.EVP_CIPHER_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]


class Seal:
    """One direction of an AES-256-GCM key, outside of the driver."""

    def __init__(self, key: ov.Direction) -> None:
        self._key = key
        self._context = _CRYPTO.EVP_CIPHER_CTX_new()

    def close(self) -> None:
        """Forgets the key."""
        _CRYPTO.EVP_CIPHER_CTX_free(self._context)

    def record(self, inside: bytes, packet_id: int, peer: int, key_id: int = 0) -> bytes:
        """A DATA_V2 record: head and packet id in the clear, the tag, what is inside."""
        head = struct.pack(">II", DATA_V2 << 27 | key_id << 24 | peer, packet_id)
        sealed, tag = ctypes.create_string_buffer(len(inside) + 1), ctypes.create_string_buffer(TAG)
        nonce, cipher = head[4:] + self._key.nonce_tail, _CRYPTO.EVP_aes_256_gcm()
        self._do("EVP_EncryptInit_ex", cipher, None, self._key.key, nonce)
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


def ipv4(source: str, destination: str, payload: bytes, **changes: int) -> bytes:
    """A UDP packet over IPv4 without a UDP checksum; `changes` make its header wrong."""
    length = changes.get("total", 28 + len(payload))
    head = bytearray(
        struct.pack(
            ">BBHHHBBH4s4s",
            changes.get("version", 4) << 4 | changes.get("words", 5),
            0, length, 0, 0, 64, changes.get("protocol", 17), 0,
            socket.inet_aton(source), socket.inet_aton(destination),
        )
    )
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into(">H", head, 10, ~total & 0xFFFF ^ changes.get("spoil", 0))
    return bytes(head) + struct.pack(">HHHH", 9, 7777, 8 + len(payload), 0) + payload


def ipv6(source: str, destination: str, payload: bytes, version: int = 6) -> bytes:
    """An IPv6 packet with a protocol that nobody speaks."""
    places = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)
    return struct.pack(">IHBB", version << 28, len(payload), 59, 64) + places + payload
