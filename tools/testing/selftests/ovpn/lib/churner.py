# SPDX-License-Identifier: GPL-2.0
"""A process that makes, changes and deletes whatever a tunnel consists of, at random.

Several of them work on the same links, so each of their requests may be refused;
only a refusal that cannot come of another's work counts.
"""

from __future__ import annotations

import contextlib
import errno
import random
import socket
import subprocess
from collections.abc import Iterator

import family as ov
import link
import nl
from endpoint import cipher_of, direction, keepalive, peer_attrs, vpn
from namespace import Namespace

CIPHERS = ("AES-128-GCM", "AES-256-GCM", "CHACHA20-POLY1305")
LINKS = ("t0", "t1")
FIRST_PORT = 4000

# What another process's work may cause; EOPNOTSUPP: the module went away.
EXPECTED = {
    errno.ENODEV,
    errno.ENOENT,
    errno.EEXIST,
    errno.EBUSY,
    errno.EADDRINUSE,
    errno.EADDRNOTAVAIL,
    errno.EALREADY,
    errno.EINVAL,
    errno.ENOTCONN,
    errno.EOPNOTSUPP,
    errno.ENOTUNIQ,
    errno.EAFNOSUPPORT,
    errno.EPROTO,
    # The socket belongs to the other link.
    errno.ENOTSOCK,
}


def port(number: int, name: str) -> int:
    """Where a process's socket for a link is bound, on both sides."""
    return FIRST_PORT + number * len(LINKS) + LINKS.index(name)


class Side:
    """One namespace as one process sees it: its addresses, its own sockets there."""

    def __init__(self, space: Namespace, number: int, host: int) -> None:
        self.space = space
        self.host = host
        self.number = number
        self.sockets: dict[str, socket.socket] = {}
        self._family: ov.Family | None = None

    def mode(self, name: str) -> str:
        """One tunnel has one peer at either end, the other one's right end has many."""
        return "mp" if self.host == 2 and name == LINKS[1] else "p2p"

    def family(self) -> ov.Family:
        """Looked up when it is needed: it goes with the module."""
        if self._family is None:
            with self.space.inside():
                self._family = ov.Family()
        return self._family

    def forget_family(self) -> None:
        """The module may have another number for it next time."""
        if self._family is not None:
            self._family.close()
            self._family = None

    def index(self, name: str) -> int:
        """The number of a link in the namespace."""
        with self.space.inside():
            return link.index(name)

    def open(self, name: str, version: int) -> socket.socket:
        """The socket for a link, made anew when there is none or for the other IP version."""
        wanted = socket.AF_INET6 if version == 6 else socket.AF_INET
        if name in self.sockets and self.sockets[name].family != wanted:
            self.close(name)
        if name not in self.sockets:
            with self.space.inside():
                made = socket.socket(wanted, socket.SOCK_DGRAM)
            made.setblocking(False)
            made.bind(("::" if version == 6 else "0.0.0.0", port(self.number, name)))
            self.sockets[name] = made
        return self.sockets[name]

    def close(self, name: str) -> None:
        """Closes a socket under whoever uses it."""
        if name in self.sockets:
            self.sockets.pop(name).close()

    def remote(self, name: str, version: int) -> tuple[str, int]:
        """How the other side reaches this one."""
        address = f"2001:db8::{self.host}" if version == 6 else f"192.0.2.{self.host}"
        return address, port(self.number, name)


class Churner:
    """One process's part: call `step` again and again, then `close`."""

    def __init__(self, number: int, left: Namespace, right: Namespace, dice: random.Random) -> None:
        self.number = number
        self.dice = dice
        self.sides = (Side(left, number, 1), Side(right, number, 2))
        self.steps = 0
        self.done: dict[str, int] = {}
        self.unexpected: list[str] = []
        self._actions = {
            self.link_add: 3,
            self.link_delete: 1,
            self.connect: 8,
            self.peer_delete: 2,
            self.peer_change: 3,
            self.peer_read: 2,
            self.key_add: 6,
            self.key_swap: 4,
            self.key_delete: 2,
            self.socket_close: 2,
            self.socket_read: 4,
        }

    def step(self) -> None:
        """One thing, whatever comes up."""
        action = self.dice.choices(list(self._actions), list(self._actions.values()))[0]
        name = action.__name__
        self.steps += 1
        with self._refusals(name):
            action(self.dice.choice(self.sides), self.dice.choice(LINKS))
            self.done[name] = self.done.get(name, 0) + 1

    def close(self) -> None:
        """Closes the sockets; links are left to others."""
        for side in self.sides:
            for name in LINKS:
                side.close(name)
            side.forget_family()

    @contextlib.contextmanager
    def _refusals(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EOPNOTSUPP, None):
                for side in self.sides:
                    side.forget_family()
            # if_nametoindex gives no number.
            if error.errno not in EXPECTED and "no interface" not in str(error):
                self.unexpected.append(f"{what}: {error!r}")

    def link_add(self, side: Side, name: str) -> None:
        """Up and with addresses, so that traffic flows when peers are there."""
        with side.space.inside():
            link.add(name, link.MODES[side.mode(name)])
        net = LINKS.index(name)
        batch = f"address add 10.{net}.0.{side.host}/24 dev {name}\n"
        batch += f"address add fd00:{net}::{side.host}/64 dev {name} nodad\nlink set {name} up\n"
        # Another one may delete it meanwhile.
        command = ("ip", "-n", side.space.name, "-batch", "-")
        subprocess.run(command, input=batch, text=True, capture_output=True, check=False)

    def link_delete(self, side: Side, name: str) -> None:
        """With all that hangs on it."""
        with side.space.inside():
            link.delete(name)

    def connect(self, side: Side, name: str) -> None:
        """Peers on both sides and keys for both, which makes a tunnel that works."""
        del side
        version = self.dice.choice((4, 6))
        cipher = self.dice.choice(CIPHERS)
        key_id = self.dice.randrange(8)
        left, right = self.sides
        for here, there in ((left, right), (right, left)):
            with self._refusals("peer_new"):
                self._peer_new(here, there, name, version)
            with self._refusals("key_new"):
                self._key_new(here, name, cipher, key_id, ov.Slot.PRIMARY)

    def _peer_new(self, here: Side, there: Side, name: str, version: int) -> None:
        net = LINKS.index(name)
        inner = self.dice.choice((there.host, 10 + self.number))
        extra = [vpn(f"10.{net}.0.{inner}"), vpn(f"fd00:{net}::{inner}")] if here.mode(name) == "mp" else []
        if self.dice.random() < 0.3:
            extra.append(keepalive(1, self.dice.choice((2, 5))))
        # Now and then the socket of the other link, which is refused.
        over = name if self.dice.random() < 0.95 else self.dice.choice(LINKS)
        attrs = peer_attrs(self.number, there.remote(name, version), here.open(over, version), *extra)
        here.family().peer(ov.Cmd.PEER_NEW, here.index(name), *attrs)

    def peer_delete(self, side: Side, name: str) -> None:
        """The own peer."""
        side.family().peer_del(side.index(name), self.number)

    def peer_change(self, side: Side, name: str) -> None:
        """Somewhere else, from where the other side's next packet floats it back."""
        attrs = [nl.u32(ov.Peer.ID, self.number)]
        if self.dice.random() < 0.5:
            attrs.append(keepalive(self.dice.choice((0, 1, 2)), self.dice.choice((0, 2, 5))))
        if self.dice.random() < 0.5:
            version = self.dice.choice((4, 6))
            attrs = peer_attrs(self.number, (side.remote(name, version)[0], 9), None)
        side.family().peer(ov.Cmd.PEER_SET, side.index(name), *attrs)

    def peer_read(self, side: Side, name: str) -> None:
        """One or all."""
        if self.dice.random() < 0.5:
            side.family().peer_get(side.index(name), self.number)
        else:
            side.family().peer_dump(side.index(name))

    def key_add(self, side: Side, name: str) -> None:
        """For both sides, so that records can be read."""
        del side
        cipher, key_id = self.dice.choice(CIPHERS), self.dice.randrange(8)
        slot = self.dice.choice((ov.Slot.PRIMARY, ov.Slot.SECONDARY))
        for here in self.sides:
            with self._refusals("key_new"):
                self._key_new(here, name, cipher, key_id, slot)

    def _key_new(self, side: Side, name: str, cipher: str, key_id: int, slot: ov.Slot) -> None:
        number, size = cipher_of(cipher)
        ours, theirs = side.host, 3 - side.host
        material = (direction(size, 2 * key_id + ours), direction(size, 2 * key_id + theirs))
        side.family().key_new(side.index(name), self.number, slot, key_id, number, *material)

    def key_swap(self, side: Side, name: str) -> None:
        """The two slots of the own peer."""
        side.family().key_swap(side.index(name), self.number)

    def key_delete(self, side: Side, name: str) -> None:
        """One slot of the own peer."""
        slot = self.dice.choice((ov.Slot.PRIMARY, ov.Slot.SECONDARY))
        side.family().key_del(side.index(name), self.number, slot)

    def socket_close(self, side: Side, name: str) -> None:
        """Its peers go with it."""
        side.close(name)

    def socket_read(self, side: Side, name: str) -> None:
        """What the driver leaves to the daemon, errors too."""
        with contextlib.suppress(OSError):
            while name in side.sockets:
                side.sockets[name].recv(2048)
