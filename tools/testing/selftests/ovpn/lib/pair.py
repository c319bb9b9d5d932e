# SPDX-License-Identifier: GPL-2.0
"""Two ends that send to each other directly, and what passes between them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

import family as ov
import ktap
import nl
from endpoint import Endpoint
from ground import LEFT4, LEFT6, RIGHT4, RIGHT6, Ground
from namespace import Namespace
from pace import wait_for

LEFT_PEER, RIGHT_PEER = 2, 1
INNER_LEFT = {4: "10.9.0.1", 6: "fd09::1"}
INNER_RIGHT = {4: "10.9.0.2", 6: "fd09::2"}
# As often are counters the same that stand still.
STILL = 5
TRANSPORT = {4: (LEFT4, RIGHT4), 6: (LEFT6, RIGHT6)}


@dataclass(frozen=True)
class Setting:
    """What a pair is like."""

    cipher: str = "AES-128-GCM"
    over: int = 4
    mtu: int = 1408
    lower_mtu: int = 1500
    # Whether the device below cuts UDP bursts itself.
    segmentation: bool = True

    def __str__(self) -> str:
        return (
            f"{self.cipher} over IPv{self.over}, MTU {self.mtu} over {self.lower_mtu}, "
            f"segmentation {'on' if self.segmentation else 'off'}"
        )


@dataclass
class Passed:
    """Records that the left end sent, and packets that they were sent in."""

    records: int = 0
    packets: int = 0

    def must_be_bursts(self, each: float = 1.25) -> None:
        """So many records a packet, or more; what is no record is a packet, too.

        How long TCP's bursts are depends on how fast it is, which is not asked here.
        """
        if self.records < 8 or self.packets * each > self.records:
            ktap.fail(f"{self.records} records went in {self.packets} packets, not in bursts")

    def must_be_single(self) -> None:
        """A packet for each record."""
        if self.packets < self.records or self.records < 8:
            ktap.fail(f"{self.records} records went in {self.packets} packets")


class Pair:
    """Left and right end of a tunnel, up and with keys."""

    def __init__(
        self, ground: Ground, setting: Setting = Setting(), ends: tuple[str, str] | None = None
    ) -> None:
        self.ground = ground
        here, there = ends or TRANSPORT[setting.over]
        for space, link in ((ground.left, "va"), (ground.right, "vb")):
            space.ip("link", "set", link, "mtu", str(setting.lower_mtu))
            switch(space, link, "tx-udp-segmentation", setting.segmentation)
        self.left = Endpoint(ground.left, "tun-left", "p2p", here)
        self.right = Endpoint(ground.right, "tun-right", "p2p", there)
        self.left.peer_new(LEFT_PEER, (there, self.right.port()), nl.u32(ov.Peer.TX_ID, RIGHT_PEER))
        self.right.peer_new(RIGHT_PEER, (here, self.left.port()), nl.u32(ov.Peer.TX_ID, LEFT_PEER))
        self.left.key_new(LEFT_PEER, setting.cipher, (1, 2))
        self.right.key_new(RIGHT_PEER, setting.cipher, (2, 1))
        for end, inner in ((self.left, INNER_LEFT), (self.right, INNER_RIGHT)):
            end.space.ip("link", "set", end.name, "mtu", str(setting.mtu))
            # Below 1280 there is no IPv6.
            addresses = [f"{inner[4]}/24"] + [f"{inner[6]}/64"] * (setting.mtu >= 1280)
            end.up(*addresses)

    def close(self) -> None:
        """Both ends."""
        self.left.close()
        self.right.close()

    def exchange_keys(self, number: int) -> None:
        """Gives both ends the key of that number, under the key id after it, and uses it."""
        for end, peer, seeds in (
            (self.right, RIGHT_PEER, (51 + number, 50 + number)),
            (self.left, LEFT_PEER, (50 + number, 51 + number)),
        ):
            end.key_new(peer, "AES-128-GCM", seeds, (number + 1) % 8, ov.Slot.SECONDARY)
            end.family.key_swap(end.index, peer)

    def settle(self) -> None:
        """Waits until what is on its way from left to right has arrived or was dropped."""
        seen: list[tuple[int, ...]] = []

        def still() -> bool:
            time.sleep(0.1)
            sent, received = self.left.counter("tx_packets"), self.right.counter("rx_packets")
            seen.append((sent, received, *self.right.drops().values()))
            return len(seen) >= STILL and len(set(seen[-STILL:])) == 1

        wait_for(still, "packets keep coming", 30)

    @contextlib.contextmanager
    def passing(self) -> Iterator[Passed]:
        """Counts what passes from left to right meanwhile."""
        passed = Passed()
        # What is sent between two readings shall not be a record without a packet.
        packets = self._packets_sent()
        records = self._records_sent()
        yield passed
        passed.records = self._records_sent() - records
        passed.packets = self._packets_sent() - packets

    def _records_sent(self) -> int:
        return nl.number(self.left.get(LEFT_PEER)[ov.Peer.LINK_TX_PACKETS])

    def _packets_sent(self) -> int:
        return int(self.ground.left.run("cat", "/sys/class/net/va/statistics/tx_packets"))


@contextlib.contextmanager
def pair(
    ground: Ground, setting: Setting = Setting(), ends: tuple[str, str] | None = None
) -> Iterator[Pair]:
    """A pair for the time of a block, on other addresses than usual if they are given."""
    made = Pair(ground, setting, ends)
    try:
        yield made
    except Exception:
        ktap.note(f"with {setting}")
        raise
    finally:
        made.close()


def switch(space: Namespace, link: str, feature: str, on: bool) -> None:
    """Turns a feature of a device on or off."""
    space.run("ethtool", "-K", link, feature, "on" if on else "off")
