# SPDX-License-Identifier: GPL-2.0
"""One end of a tunnel without a daemon: a link, its socket, its peers."""

from __future__ import annotations

import contextlib
import socket
import time

import family as ov
import link
import nl
from namespace import Namespace

KEY_SIZES = {"AES-128-GCM": 16, "AES-192-GCM": 24, "AES-256-GCM": 32}


def direction(size: int, seed: int) -> ov.Direction:
    """Key material that is the same wherever the seed is."""
    material = bytes((seed * 31 + i * 7) & 0xFF for i in range(size + 8))
    return ov.Direction(material[:size], material[size:])


def cipher_of(name: str) -> tuple[ov.Cipher, int]:
    """The driver's number of a cipher and its key size."""
    if name in KEY_SIZES:
        return ov.Cipher.AES_GCM, KEY_SIZES[name]
    return ov.Cipher.CHACHA20_POLY1305, 32


_OPEN: list[Endpoint] = []


def close_all() -> None:
    """Closes what a failed case has left open, so that the next one starts clean."""
    for end in _OPEN[:]:
        with contextlib.suppress(OSError):
            end.close()
    _OPEN.clear()


class Endpoint:
    """A link in a namespace together with the socket it sends from: a UDP socket bound to an
    address, or one that there is already."""

    def __init__(
        self, space: Namespace, name: str, mode: str, over: str | socket.socket
    ) -> None:
        self.space = space
        self.name = name
        _OPEN.append(self)
        with space.inside():
            link.add(name, link.MODES[mode])
            self.index = link.index(name)
            self.family = ov.Family()
            self.socket = udp_socket(over) if isinstance(over, str) else over
        # No solicitations of its own: the tests count packets.
        space.run("sysctl", "-qw", f"net.ipv6.conf.{name}.addr_gen_mode=1")

    def up(self, *addresses: str) -> None:
        """Gives addresses and brings the link up."""
        for address in addresses:
            extra = ("nodad",) if ":" in address else ()
            self.space.ip("address", "add", address, "dev", self.name, *extra)
        self.space.ip("link", "set", self.name, "up")

    def port(self) -> int:
        """The socket's own port."""
        return int(self.socket.getsockname()[1])

    def peer_new(self, peer_id: int, remote: tuple[str, int] | None, *extra: bytes) -> None:
        """Adds a peer that is reached over the socket."""
        self.family.peer(
            ov.Cmd.PEER_NEW, self.index, *peer_attrs(peer_id, remote, self.socket, *extra)
        )

    def key_new(
        self,
        peer_id: int,
        cipher: str,
        seeds: tuple[int, int],
        key_id: int = 0,
        slot: ov.Slot = ov.Slot.PRIMARY,
    ) -> None:
        """Installs a key; the seeds are those of sending and receiving."""
        number, size = cipher_of(cipher)
        sending, receiving = direction(size, seeds[0]), direction(size, seeds[1])
        self.family.key_new(
            self.index, peer_id, slot, key_id, number, sending, receiving
        )

    def get(self, peer_id: int) -> dict[int, bytes]:
        """The driver's view of a peer."""
        return self.family.peer_get(self.index, peer_id)

    def counter(self, name: str) -> int:
        """A counter of the link, such as rx_dropped."""
        path = f"/sys/class/net/{self.name}/statistics/{name}"
        return int(self.space.run("cat", path))

    def drops(self) -> dict[str, int]:
        """Packets that our driver has dropped, by cause."""
        lines = self.space.run("ethtool", "-S", self.name).splitlines()[1:]
        return {name.strip(): int(value) for name, value in (line.split(":") for line in lines)}

    def carrier(self) -> bool:
        """Whether the link has carrier; it must be up to be asked."""
        return self.space.run("cat", f"/sys/class/net/{self.name}/carrier").strip() == "1"

    def operational(self) -> None:
        """Waits until the stack hands the link packets again: its carrier goes with the last peer
        of a p2p link and comes with the next one, and the stack takes note a little later."""
        end = time.monotonic() + 10
        with self.space.inside():
            while not link.is_operational(self.name):
                if time.monotonic() > end:
                    raise RuntimeError(f"{self.name} is not operational")
                time.sleep(0.005)

    def close(self) -> None:
        """Deletes the link and closes what is open, if that has not been done."""
        if self not in _OPEN:
            return
        try:
            with self.space.inside():
                link.delete(self.name)
        finally:
            self.outlive()

    def outlive(self) -> None:
        """Closes what is open, for a link that is gone already."""
        _OPEN.remove(self)
        self.socket.close()
        self.family.close()


def multipeer(space: Namespace, name: str = "mp0") -> Endpoint:
    """A link for many peers that needs no more than to exist."""
    return Endpoint(space, name, "mp", "127.0.0.1")


def point_to_point(space: Namespace, name: str = "p2p0") -> Endpoint:
    """The same for one peer."""
    return Endpoint(space, name, "p2p", "127.0.0.1")


def asks(end: Endpoint, command: ov.Cmd, *attrs: bytes):
    """A peer command to be called later."""
    return lambda: end.family.peer(command, end.index, *attrs)


def udp_socket(bind: str, port: int = 0) -> socket.socket:
    """A UDP socket on an address, with a time limit for reading."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.settimeout(5)
    address, _, scope = bind.partition("%")
    if scope:
        made.bind((address, port, 0, socket.if_nametoindex(scope)))
    else:
        made.bind((address, port))
    return made


def peer_attrs(
    peer_id: int, remote: tuple[str, int] | None, over: socket.socket | int | None, *extra: bytes
) -> list[bytes]:
    """The attributes of a new peer; None leaves one out."""
    attrs = [nl.u32(ov.Peer.ID, peer_id)]
    if over is not None:
        attrs.append(nl.u32(ov.Peer.SOCKET, over if isinstance(over, int) else over.fileno()))
    if remote is not None:
        attrs.append(
            ov.address_attr(remote[0], ov.Peer.REMOTE_IPV4, ov.Peer.REMOTE_IPV6)
        )
        attrs.append(nl.be16(ov.Peer.REMOTE_PORT, remote[1]))
    attrs.extend(extra)
    return attrs


def vpn(address: str) -> bytes:
    """The attribute of a peer's address inside the tunnel."""
    return ov.address_attr(address, ov.Peer.VPN_IPV4, ov.Peer.VPN_IPV6)


def keepalive(interval: int, timeout: int) -> bytes:
    """Both keepalive attributes."""
    return nl.u32(ov.Peer.KEEPALIVE_INTERVAL, interval) + nl.u32(
        ov.Peer.KEEPALIVE_TIMEOUT, timeout
    )
