# SPDX-License-Identifier: GPL-2.0
"""Links as iproute2, ethtool and sysfs see them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import link
import nl
from endpoint import multipeer, point_to_point
from namespace import Namespace
from probe import Answer, probes
from probe_peers import space

# Differ from run to run.
RANDOM = ("ifindex", "inet6_addr_gen_mode")
# Of the device's own files, those that say something of it.
SYSFS = (
    "type", "flags", "mtu", "addr_len", "address", "broadcast", "tx_queue_len", "carrier", "operstate",
    "dev_id", "dev_port", "link_mode", "addr_assign_type", "gro_flush_timeout", "napi_defer_hard_irqs",
    "proto_down", "testing", "netdev_group", "uevent", "speed", "duplex", "threaded",
)


def done(there: Namespace, *command: str) -> dict[str, Any]:
    """A command that may fail, and what it said."""
    ran = subprocess.run(["ip", "netns", "exec", there.name, *command], capture_output=True, text=True, check=False)
    return {"code": ran.returncode, "said": ran.stdout + ran.stderr}


def ip(there: Namespace, *arguments: str) -> dict[str, Any]:
    """The same for ip."""
    return done(there, "ip", *arguments)


def looks(there: Namespace, name: str) -> Iterator[Answer]:
    """Everything that tools show."""
    shown = json.loads(there.ip("-d", "-j", "link", "show", "dev", name))[0]
    for field, value in shown.items():
        if field not in RANDOM:
            yield f"ip/{field}", value
    for field in SYSFS:
        yield f"sysfs/{field}", sysfs(there, name, field)
    for line in there.run("ethtool", "-k", name).splitlines()[1:]:
        feature, _, state = line.partition(": ")
        yield f"feature/{feature.strip()}", state
    for what, arguments in {"driver": ("-i",), "state": (), "stamps": ("-T",), "statistics": ("-S",), "channels": ("-l",)}.items():
        yield f"ethtool/{what}", done(there, "ethtool", *arguments, name)
    for setting in ("send_redirects", "forwarding", "rp_filter", "accept_redirects"):
        yield f"sysctl/{setting}", done(there, "sysctl", "-n", f"net.ipv4.conf.{name}.{setting}")
    yield "sysctl/all", done(there, "sysctl", "-n", "net.ipv4.conf.all.send_redirects")


def sysfs(there: Namespace, name: str, field: str) -> dict[str, Any]:
    """A file of the device."""
    found = done(there, "cat", f"/sys/class/net/{name}/{field}")
    if field == "uevent":
        found["said"] = "".join(line for line in found["said"].splitlines(True) if "IFINDEX" not in line)
    return found


@probes("link/looks")
def appearance() -> Iterator[Answer]:
    """Of both modes: new, up, up with a peer."""
    with space() as there:
        for make in (multipeer, point_to_point):
            end = make(there)
            for answer in looks(there, end.name):
                yield f"{end.name}/new/{answer[0]}", answer[1]
            end.up("10.9.0.1/24")
            for answer in looks(there, end.name):
                yield f"{end.name}/up/{answer[0]}", answer[1]
            if make is point_to_point:
                end.peer_new(1, ("192.0.2.2", 1194))
                for answer in looks(there, end.name):
                    yield f"{end.name}/with-peer/{answer[0]}", answer[1]
            end.close()


# What is done to a link, and whether it may be.
CHANGES: dict[str, tuple[str, ...]] = {
    "mtu-67": ("link", "set", "DEV", "mtu", "67"),
    "mtu-68": ("link", "set", "DEV", "mtu", "68"),
    "mtu-65451": ("link", "set", "DEV", "mtu", "65451"),
    "mtu-65452": ("link", "set", "DEV", "mtu", "65452"),
    "address": ("link", "set", "DEV", "address", "02:00:00:00:00:01"),
    "multicast": ("link", "set", "DEV", "multicast", "on"),
    "arp": ("link", "set", "DEV", "arp", "on"),
    "promisc": ("link", "set", "DEV", "promisc", "on"),
    "allmulticast": ("link", "set", "DEV", "allmulticast", "on"),
    "txqueuelen": ("link", "set", "DEV", "txqueuelen", "1000"),
    "carrier-off": ("link", "set", "DEV", "carrier", "off"),
    "carrier-on": ("link", "set", "DEV", "carrier", "on"),
    "down": ("link", "set", "DEV", "down"),
    "up": ("link", "set", "DEV", "up"),
    "rename-while-up": ("link", "set", "DEV", "name", "other"),
    "rename-back": ("link", "set", "other", "name", "DEV"),
    "alias": ("link", "set", "DEV", "alias", "words"),
    "group": ("link", "set", "DEV", "group", "7"),
    "type": ("link", "set", "DEV", "type", "ovpn"),
    "vlan": ("link", "add", "link", "DEV", "name", "above", "type", "vlan", "id", "5"),
    "macvlan": ("link", "add", "link", "DEV", "name", "above", "type", "macvlan"),
    "ipvlan": ("link", "add", "link", "DEV", "name", "above2", "type", "ipvlan"),
    "bridge": ("link", "set", "DEV", "master", "br0"),
    "bond": ("link", "set", "DEV", "master", "bond0"),
    "vrf": ("link", "set", "DEV", "master", "vrf0"),
    "no-vrf": ("link", "set", "DEV", "nomaster"),
    "gso-max": ("link", "set", "DEV", "gso_max_size", "30000"),
    "gso-max-large": ("link", "set", "DEV", "gso_max_size", "200000"),
    "gro-max": ("link", "set", "DEV", "gro_max_size", "30000"),
    "neighbour": ("neighbour", "add", "10.9.0.7", "lladdr", "02:00:00:00:00:01", "dev", "DEV"),
    "qdisc": ("link", "show", "DEV"),
}


@probes("link/change")
def changes() -> Iterator[Answer]:
    """One after the other on the same link."""
    with space() as there:
        there.ip("link", "add", "br0", "type", "bridge")
        there.ip("link", "add", "bond0", "type", "bond")
        there.ip("link", "add", "vrf0", "type", "vrf", "table", "10")
        for mode in ("p2p", "mp"):
            end = multipeer(there, "tun5") if mode == "mp" else point_to_point(there, "tun5")
            end.up("10.9.0.1/24")
            for what, words in CHANGES.items():
                answer = ip(there, *(word.replace("DEV", "tun5") for word in words))
                if what == "qdisc":
                    answer["said"] = "noqueue" in answer["said"]
                yield f"{mode}/{what}", answer
            for name in ("above", "above2"):
                ip(there, "link", "delete", name)
            end.close()


@probes("link/made")
def making() -> Iterator[Answer]:
    """Good and bad requests for a link."""
    with space() as there, there.inside():
        for mode in (None, 0, 1, 2, 3, 255):
            try:
                link.add("tun6", mode)
                yield f"mode-{mode}", [0, link.info("tun6")]
                link.delete("tun6")
            except nl.NetlinkError as error:
                yield f"mode-{mode}", [error.errno, error.said != "", error.offset]
    with space() as there:
        plain: dict[str, tuple[str, ...]] = {
            "mtu-67": ("mtu", "67"),
            "mtu-1500": ("mtu", "1500"),
            "mtu-65452": ("mtu", "65452"),
            "queues": ("numtxqueues", "4", "numrxqueues", "4"),
            "address": ("address", "02:00:00:00:00:01"),
            "txqueuelen": ("txqueuelen", "77"),
        }
        for what, words in plain.items():
            answer = ip(there, "link", "add", "name", "tun6", *words, "type", "ovpn")
            answer["mtu"] = ip(there, "-br", "link", "show", "tun6")["code"]
            yield what, answer
            ip(there, "link", "delete", "tun6")
        link_on = ("link", "add", "link", "lo", "name", "tun6", "type", "ovpn")
        yield "on-another", ip(there, *link_on)
        ip(there, "link", "delete", "tun6")
        yield "twice", [ip(there, "link", "add", "tun6", "type", "ovpn")["code"] for _ in range(2)]
        yield "deleted-by-type", ip(there, "link", "delete", "dev", "tun6", "type", "ovpn")


@probes("module")
def module() -> Iterator[Answer]:
    """What is known of the module, and what unloading does to a link."""
    for name in ("alias", "license", "depends", "softdep", "parm"):
        file = os.environ["OVPN_MODULE"]
        said = subprocess.run(["modinfo", "-F", name, file], capture_output=True, text=True, check=False).stdout
        yield f"modinfo/{name}", sorted(said.split()) if name == "alias" else said
    for parameter in sorted(os.listdir("/sys/module/ovpn")):
        yield f"sysfs/{parameter}", os.path.isdir(f"/sys/module/ovpn/{parameter}")
    with space() as there:
        with there.inside():
            link.add("tun7", 1)
        yield "unload-with-link", subprocess.run(["rmmod", "ovpn"], capture_output=True, check=False).returncode
        gone = ip(there, "link", "show", "tun7")["code"] != 0
        yield "link-gone", gone
        if gone:
            subprocess.run(["insmod", os.environ["OVPN_MODULE"]], check=True)
        else:
            there.ip("link", "delete", "tun7")
