# SPDX-License-Identifier: GPL-2.0
"""The generic netlink family `ovpn`, spoken from Python.

The numbers are those of the family's specification, ovpn.yaml.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

import nl

GENL_CTRL = 0x10
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID = 1
CTRL_ATTR_FAMILY_NAME = 2
CTRL_ATTR_MCAST_GROUPS = 7
CTRL_ATTR_MCAST_GRP_NAME = 1
CTRL_ATTR_MCAST_GRP_ID = 2

FAMILY_VERSION = 1
NONCE_TAIL_SIZE = 8


class Top(IntEnum):
    """Attributes of a message."""

    IFINDEX = 1
    PEER = 2
    KEYCONF = 3


class Cmd(IntEnum):
    """Commands and notifications."""

    PEER_NEW = 1
    PEER_SET = 2
    PEER_GET = 3
    PEER_DEL = 4
    PEER_DEL_NTF = 5
    KEY_NEW = 6
    KEY_GET = 7
    KEY_SWAP = 8
    KEY_SWAP_NTF = 9
    KEY_DEL = 10
    PEER_FLOAT_NTF = 11


class Peer(IntEnum):
    """Attributes of a peer."""

    ID = 1
    REMOTE_IPV4 = 2
    REMOTE_IPV6 = 3
    REMOTE_IPV6_SCOPE_ID = 4
    REMOTE_PORT = 5
    SOCKET = 6
    SOCKET_NETNSID = 7
    VPN_IPV4 = 8
    VPN_IPV6 = 9
    LOCAL_IPV4 = 10
    LOCAL_IPV6 = 11
    LOCAL_PORT = 12
    KEEPALIVE_INTERVAL = 13
    KEEPALIVE_TIMEOUT = 14
    DEL_REASON = 15
    VPN_RX_BYTES = 16
    VPN_TX_BYTES = 17
    VPN_RX_PACKETS = 18
    VPN_TX_PACKETS = 19
    LINK_RX_BYTES = 20
    LINK_TX_BYTES = 21
    LINK_RX_PACKETS = 22
    LINK_TX_PACKETS = 23
    TX_ID = 24


class Key(IntEnum):
    """Attributes of a key."""

    PEER_ID = 1
    SLOT = 2
    KEY_ID = 3
    CIPHER_ALG = 4
    ENCRYPT_DIR = 5
    DECRYPT_DIR = 6


class KeyDir(IntEnum):
    """Attributes of one direction of a key."""

    CIPHER_KEY = 1
    NONCE_TAIL = 2


class Cipher(IntEnum):
    """Ciphers."""

    NONE = 0
    AES_GCM = 1
    CHACHA20_POLY1305 = 2


class Slot(IntEnum):
    """Key slots."""

    PRIMARY = 0
    SECONDARY = 1


class Reason(IntEnum):
    """Why a peer was deleted."""

    TEARDOWN = 0
    USERSPACE = 1
    EXPIRED = 2
    TRANSPORT_ERROR = 3
    TRANSPORT_DISCONNECT = 4


@dataclass(frozen=True)
class Direction:
    """Key material of one direction."""

    key: bytes
    nonce_tail: bytes

    def attrs(self) -> list[bytes]:
        """As attributes."""
        return [
            nl.attr(KeyDir.CIPHER_KEY, self.key),
            nl.attr(KeyDir.NONCE_TAIL, self.nonce_tail),
        ]


@dataclass(frozen=True)
class Notification:
    """Something the driver told everybody who listens."""

    command: Cmd
    ifindex: int
    peer: dict[int, bytes]
    key: dict[int, bytes]


def address_attr(address: str, v4: int, v6: int) -> bytes:
    """An address under the attribute of its family."""
    parsed = ip_address(address)
    return nl.attr(v4 if parsed.version == 4 else v6, parsed.packed)


def address(payload: bytes) -> str:
    """An address attribute as text."""
    return str(IPv4Address(payload) if len(payload) == 4 else IPv6Address(payload))


def port(payload: bytes) -> int:
    """A port attribute, network order."""
    return int(struct.unpack(">H", payload)[0])


class Family:
    """The family in the network namespace of its creation."""

    def __init__(self) -> None:
        self._socket = nl.NetlinkSocket(nl.NETLINK_GENERIC)
        # Its own, else the answer to a request could swallow a notification.
        self._heard = nl.NetlinkSocket(nl.NETLINK_GENERIC)
        head = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
        answer = self._socket.request(
            GENL_CTRL, 0, head + nl.text(CTRL_ATTR_FAMILY_NAME, "ovpn")
        )
        attrs = nl.parse(answer[0].payload[4:])
        self.id = nl.number(attrs[CTRL_ATTR_FAMILY_ID])
        self._groups = attrs[CTRL_ATTR_MCAST_GROUPS]

    def close(self) -> None:
        """Gives the sockets back."""
        self._socket.close()
        self._heard.close()

    def listen(self) -> None:
        """Joins the group `peers`, with room for some thousand notifications."""
        self._heard.make_room(1 << 25)
        for group in nl.parse(self._groups).values():
            attrs = nl.parse(group)
            if attrs[CTRL_ATTR_MCAST_GRP_NAME] == b"peers\0":
                self._heard.join(nl.number(attrs[CTRL_ATTR_MCAST_GRP_ID]))
                return
        raise LookupError("the family ovpn has no multicast group 'peers'")

    def request(
        self, command: Cmd, *attrs: bytes, dump: bool = False
    ) -> list[dict[int, bytes]]:
        """Sends a command as it is; the answers' attributes come back."""
        head = struct.pack("=BBH", command, FAMILY_VERSION, 0)
        flags = nl.NLM_F_DUMP if dump else 0
        answers = self._socket.request(self.id, flags, head + b"".join(attrs))
        return [nl.parse(answer.payload[4:]) for answer in answers]

    def notification(self, timeout: float = 5) -> Notification:
        """The next notification; TimeoutError when none comes."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            for message in self._heard.receive(left):
                if message.kind != self.id:
                    continue
                attrs = nl.parse(message.payload[4:])
                return Notification(
                    Cmd(message.payload[0]),
                    nl.number(attrs[Top.IFINDEX]),
                    nl.parse(attrs.get(Top.PEER, b"")),
                    nl.parse(attrs.get(Top.KEYCONF, b"")),
                )
        raise TimeoutError("no notification came")

    def peer(self, command: Cmd, ifindex: int, *attrs: bytes) -> list[dict[int, bytes]]:
        """A command about a peer."""
        return self.request(
            command, nl.u32(Top.IFINDEX, ifindex), nl.nest(Top.PEER, *attrs)
        )

    def peer_get(self, ifindex: int, peer_id: int) -> dict[int, bytes]:
        """What the driver says of one peer."""
        answer = self.peer(Cmd.PEER_GET, ifindex, nl.u32(Peer.ID, peer_id))
        return nl.parse(answer[0][Top.PEER])

    def peer_dump(self, ifindex: int) -> list[dict[int, bytes]]:
        """What the driver says of all peers."""
        answers = self.request(
            Cmd.PEER_GET, nl.u32(Top.IFINDEX, ifindex), dump=True
        )
        return [nl.parse(answer[Top.PEER]) for answer in answers]

    def peer_del(self, ifindex: int, peer_id: int) -> None:
        """Deletes a peer."""
        self.peer(Cmd.PEER_DEL, ifindex, nl.u32(Peer.ID, peer_id))

    def key(self, command: Cmd, ifindex: int, *attrs: bytes) -> list[dict[int, bytes]]:
        """A command about a key."""
        return self.request(
            command, nl.u32(Top.IFINDEX, ifindex), nl.nest(Top.KEYCONF, *attrs)
        )

    def key_new(
        self,
        ifindex: int,
        peer_id: int,
        slot: Slot,
        key_id: int,
        cipher: Cipher,
        encrypt: Direction,
        decrypt: Direction,
    ) -> None:
        """Installs a key."""
        self.key(
            Cmd.KEY_NEW,
            ifindex,
            nl.u32(Key.PEER_ID, peer_id),
            nl.u32(Key.SLOT, slot),
            nl.u32(Key.KEY_ID, key_id),
            nl.u32(Key.CIPHER_ALG, cipher),
            nl.nest(Key.ENCRYPT_DIR, *encrypt.attrs()),
            nl.nest(Key.DECRYPT_DIR, *decrypt.attrs()),
        )

    def key_get(self, ifindex: int, peer_id: int, slot: Slot) -> dict[int, bytes]:
        """What may be told of a key."""
        answer = self.key(
            Cmd.KEY_GET, ifindex, nl.u32(Key.PEER_ID, peer_id), nl.u32(Key.SLOT, slot)
        )
        return nl.parse(answer[0][Top.KEYCONF])

    def key_swap(self, ifindex: int, peer_id: int) -> None:
        """Swaps the slots."""
        self.key(Cmd.KEY_SWAP, ifindex, nl.u32(Key.PEER_ID, peer_id))

    def key_del(self, ifindex: int, peer_id: int, slot: Slot) -> None:
        """Empties a slot."""
        self.key(
            Cmd.KEY_DEL, ifindex, nl.u32(Key.PEER_ID, peer_id), nl.u32(Key.SLOT, slot)
        )
