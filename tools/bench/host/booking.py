# SPDX-License-Identifier: GPL-2.0
"""To which side a context's work belongs, and what kind of work a function does."""

from __future__ import annotations

import re
from enum import Enum

from symbols import USER_CIPHER, Function, Symbols


class Side(Enum):
    """The sending host, the receiving one, and what is neither."""

    TX = "tx"
    RX = "rx"
    OTHER = "other"


class Part(Enum):
    """What a function is there for."""

    CORE = "core"
    DRIVER = "driver"
    STACK = "stack"


# By the names that the guest's scenarios give. Each host has both kinds of workers, but
# nearly all records go one way.
TX = {
    "task:bench-tx", "napi:va", "napi:tun0", "task:openvpn-tx",
    # The sender's small-queue work is asked for when the receiver's veth frees its buffers.
    "work:tcp_tsq_workfn",
    "work:wg_packet_encrypt_worker", "work:wg_packet_tx_worker", "work:ovpn_tcp_tx_work",
    # The same of ours.
    "work:kernel_ext::workqueue::run::<kernel_ext::net::tcp::TcpSocket<ovpn::transport::tcp::Carrier>>",
}
RX = {
    "task:bench-rx", "napi:vb", "napi:tun1", "task:openvpn-rx",
    # Where a device without a NAPI of its own receives: mostly data, a few acknowledgments.
    "napi:backlog",
    # What xfrm puts its decrypted packets through.
    "napi:dummy#",
    "work:wg_packet_decrypt_worker", "work:strp_work",
}

# The ciphers, and the glue that walks the packet for them: that too is a price of
# the crypto interface, whoever calls it.
CORE = re.compile(
    r"^(chacha_|hchacha_|__?poly1305|poly1305_|poly_|skcipher_|scatterwalk_|memcpy_(to|from)_scatterwalk|"
    r"kernel_fpu_|irq_fpu_usable|crypto_|__crypto_)"
)
CORE_MODULES = set(
    "aesni_intel libaes ghash_clmulni_intel gcm ctr seqiv cryptd "
    "chacha chacha20poly1305 libchacha libpoly1305 libcurve25519 libblake2s".split()
)
DRIVERS = {"ovpn", "wireguard", "esp4", "esp6", "macsec", "tun"}


# The devices of the sending and the receiving end change places when b sends.
REVERSED = {"napi:va": "napi:vb", "napi:vb": "napi:va", "napi:tun0": "napi:tun1", "napi:tun1": "napi:tun0"}


def side(context: str, symbols: Symbols, reverse: bool = False) -> Side:
    """The side that a context is booked to."""
    kind, _, name = context.partition(":")
    if kind == "work":
        context = f"work:{symbols.at(int(name, 16)).name}"
    if reverse:
        context = REVERSED.get(context, context)
    if context in TX:
        return Side.TX
    return Side.RX if context in RX else Side.OTHER


def part(function: Function) -> Part:
    """The part that a function is booked to."""
    if function == USER_CIPHER or function.module in CORE_MODULES or CORE.match(function.name):
        return Part.CORE
    return Part.DRIVER if function.module in DRIVERS else Part.STACK
