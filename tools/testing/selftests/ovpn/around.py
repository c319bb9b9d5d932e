#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The machine around a tunnel: its clock, its log, its users, its forwarding, BPF."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import family as ov
import ktap
import link
import nl
from endpoint import asks, close_all, keepalive, multipeer, peer_attrs, udp_socket, vpn
from ground import LEFT4, Ground
from namespace import load_module
from stream import connection
from wiretap import header

REMOTE = ("192.0.2.77", 1194)
HOUR = 3600
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SYS_BPF, MAP_CREATE, MAP_UPDATE, SOCKMAP = 321, 0, 2, 15

load_module()
GROUND = Ground()
LIBC = ctypes.CDLL(None, use_errno=True)


@ktap.case("when the wall clock jumps no peer expires, and keepalives go on")
def clock() -> None:
    """Two hours ahead, four back; then silence still ends the peer."""
    made = GROUND.tunnel()
    made.right.family.listen()
    setting = made.left.family, made.left.index
    setting[0].peer(ov.Cmd.PEER_SET, setting[1], nl.u32(ov.Peer.ID, 2), keepalive(1, 60))
    made.right.family.peer(ov.Cmd.PEER_SET, made.right.index, nl.u32(ov.Peer.ID, 1), keepalive(60, 4))
    try:
        for hours in (2, -4, 2):
            time.clock_settime(time.CLOCK_REALTIME, time.time() + hours * HOUR)
            seen, end = 0, time.monotonic() + 5
            while time.monotonic() < end:
                made.deliver(made.tap.recv(2000))
                seen += 1
            if not 3 <= seen <= 7:
                ktap.fail(f"{seen} keepalives in five seconds, {hours} hours away")
    finally:
        # Some steps may not have been taken.
        ktap.note(f"clock: {time.ctime()}")
    made.right.get(1)
    heard = made.right.family.notification(12)
    ktap.equal("told", heard.command, ov.Cmd.PEER_DEL_NTF)
    ktap.equal("reason", nl.number(heard.peer[ov.Peer.DEL_REASON]), ov.Reason.EXPIRED)
    made.close()


@ktap.case("of five hundred deletions each is told, whoever asks for what meanwhile")
def all_told() -> None:
    """One by one, with the link, and with the socket."""
    for how in ("peers", "link", "socket"):
        end = multipeer(GROUND.right)
        for number in range(500):
            end.peer_new(number, REMOTE, vpn(f"10.1.{number // 200}.{number % 200 + 1}"))
        end.family.listen()
        heard: list[int] = []
        listener = threading.Thread(target=listen, args=(end.family, heard, 500))
        listener.start()
        if how == "peers":
            for number in range(500):
                end.family.peer_del(end.index, number)
                with contextlib.suppress(nl.NetlinkError):
                    end.family.peer_get(end.index, number + 1)
        elif how == "link":
            with GROUND.right.inside():
                link.delete(end.name)
        else:
            end.socket.close()
        listener.join()
        ktap.equal(f"notifications, {how}", len(heard), 500)
        ktap.equal(f"peers told of, {how}", set(heard), set(range(500)))
        if how == "link":
            end.outlive()
        else:
            ktap.equal("peers left", end.family.peer_dump(end.index), [])
            end.close()


def listen(family: ov.Family, heard: list[int], count: int) -> None:
    """So many notifications."""
    with contextlib.suppress(TimeoutError):
        while len(heard) < count:
            heard.append(nl.number(family.notification(10).peer[ov.Peer.ID]))


@ktap.case("packets without a peer, bad records and bad requests leave the log readable")
def quiet() -> None:
    """The log has a handful of lines at most for hundreds of them."""
    made = GROUND.tunnel("mp")
    GROUND.right.run("sysctl", "-qw", "net.ipv6.conf.tun-right.addr_gen_mode=0")
    before = len(log())
    record = made.record(b"once")
    for number in range(300):
        made.target.sendto(b"to nobody", ("10.9.0.77", 9))
        made.deliver(record)
        made.deliver(record[:4] + struct.pack(">I", number + 5) + record[8:])
        made.deliver(record[:1] + b"\0\0\x4d" + record[4:])
        ktap.refused(errno.ENOENT, lambda: made.right.family.peer_get(made.right.index, 77))
    lines = [line for line in log()[before:] if "ovpn" in line or "tun-right" in line]
    ktap.note("\n".join(lines[:20]))
    if len(lines) > 40:
        ktap.fail(f"{len(lines)} lines in the log")
    made.close()


def log() -> list[str]:
    """The kernel's log."""
    return subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout.splitlines()


@ktap.case("a user who is root in a namespace of users only may make links but no peers")
def user_namespace() -> None:
    """As every command of the family asks for the right in the first namespace."""
    child = os.fork()
    if child == 0:
        os._exit(in_user_namespace())
    status = os.waitpid(child, 0)[1]
    ktap.equal("the child's verdict", os.waitstatus_to_exitcode(status), 0)


def in_user_namespace() -> int:
    """What a container without privileges does."""
    try:
        if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            return 2
        link.add("tun8", link.MODES["mp"])
        family, over = ov.Family(), udp_socket("0.0.0.0")
        attrs = peer_attrs(1, REMOTE, over, vpn("10.0.0.1"))
        ktap.refused(errno.EPERM, lambda: family.peer(ov.Cmd.PEER_NEW, link.index("tun8"), *attrs))
        ktap.refused(errno.EPERM, lambda: family.peer_dump(link.index("tun8")))
        link.delete("tun8")
        return 0
    except (OSError, AssertionError) as error:
        ktap.note(f"in the namespace: {error}")
        return 1


class Attributes(ctypes.Structure):
    """Of the system call bpf, as far as a map needs them."""

    _fields_ = [(f"word{number}", ctypes.c_uint32) for number in range(16)]


def bpf(command: int, *words: int) -> int:
    """The system call; an error is raised."""
    given = Attributes(*words)
    done = LIBC.syscall(SYS_BPF, command, ctypes.byref(given), ctypes.sizeof(given))
    if done < 0:
        number = ctypes.get_errno()
        if number == errno.ENOSYS:
            ktap.skip("this kernel has no bpf()")
        raise OSError(number, os.strerror(number))
    return int(done)


def map_put(sockets: int, key: int, number: int) -> None:
    """Puts a socket into a map of sockets."""
    at, value = ctypes.c_uint32(key), ctypes.c_uint32(number)
    places = [ctypes.addressof(at), ctypes.addressof(value), 0]
    words = [half for place in places for half in (place & 0xFFFFFFFF, place >> 32)]
    bpf(MAP_UPDATE, sockets, 0, *words)


@ktap.case("a socket that a BPF map owns is refused, and the tunnel's own stay out of such maps")
def sockmap() -> None:
    """UDP and TCP; the first owner goes on working."""
    sockets = bpf(MAP_CREATE, SOCKMAP, 4, 4, 8)
    end = multipeer(GROUND.right)
    with GROUND.right.inside():
        mapped = udp_socket("127.0.0.1")
    stream, tap = connection(GROUND.right, GROUND.left, LEFT4)
    for key, (over, remote) in enumerate(((mapped, REMOTE), (stream, None))):
        map_put(sockets, key, over.fileno())
        attrs = peer_attrs(1, remote, over, vpn("10.0.0.1"))
        ktap.note(str(ktap.refused(errno.ENOTSOCK, asks(end, ov.Cmd.PEER_NEW, *attrs))))
    tap.sendall(b"as before")
    ktap.equal("the mapped stream", stream.recv(100), b"as before")
    for made in (mapped, stream, tap, end):
        made.close()
    tunnel = GROUND.tunnel()
    with contextlib.suppress(OSError):
        map_put(sockets, 2, tunnel.right.socket.fileno())
        ktap.note("the map took the tunnel's socket")
    tunnel.still_works()
    tunnel.close()
    os.close(sockets)


@ktap.case("peers that talk through a multipeer link are sent no redirects")
def redirects() -> None:
    """The first one's packet reaches the second, and nothing comes back."""
    made = GROUND.tunnel("mp")
    with GROUND.left.inside():
        second = udp_socket(LEFT4, 6600)
    made.right.peer_new(3, second.getsockname(), vpn("10.9.0.3"))
    made.right.key_new(3, "AES-256-GCM", (2, 1))
    for name in ("ipv4.ip_forward", "ipv4.conf.all.forwarding"):
        GROUND.right.run("sysctl", "-qw", f"net.{name}=1")
    for _ in range(20):
        made.source.sendto(b"to the other one", ("10.9.0.3", 9))
        made.deliver(made.tap.recv(2000))
        ktap.equal("opcode and peer", header(second.recv(2000))[::2], (9, 3))
    made.tap.settimeout(0.3)
    with contextlib.suppress(TimeoutError):
        ktap.fail(f"the first one was sent {len(made.tap.recv(2000))} bytes")
    second.close()
    made.close()


if __name__ == "__main__":
    code = ktap.run(close_all)
    GROUND.close()
    sys.exit(code)
