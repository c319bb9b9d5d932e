# SPDX-License-Identifier: GPL-2.0
"""openvpn as it is without a driver: all packets pass through the daemon and a tun device."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from ground import INNER, Ground
from namespace import run

WORK = Path("/tmp/openvpn")
# Under names of their own the two daemons can be told apart.
NAMES = ("openvpn-tx", "openvpn-rx")
WAIT_SECONDS = 60
BUFFER = 16 << 20


class Daemon:
    """Two daemons, client and server, point to point."""

    def __init__(self, ground: Ground) -> None:
        run("modprobe", "tun")
        self.target = INNER[1]
        self._ground = ground
        for key in ("rmem_max", "wmem_max"):
            run("sysctl", "-qw", f"net.core.{key}={BUFFER}")
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir()
        if not os.path.exists("/dev/net/tun"):
            raise RuntimeError("the module tun made no /dev/net/tun")
        self._prints = [_identity(name) for name in NAMES]
        self._daemons = [self._start(end) for end in (1, 0)]
        for name in NAMES:
            _wait_up(WORK / f"{name}.log")

    def close(self) -> None:
        """Ends both."""
        for daemon in self._daemons:
            daemon.kill()
            daemon.wait()

    def _start(self, end: int) -> subprocess.Popen[bytes]:
        name, space = NAMES[end], (self._ground.a, self._ground.b)[end]
        program = WORK / name
        program.symlink_to(shutil.which("openvpn") or "openvpn")
        scenario, outer = self._ground.scenario, self._ground.outer()
        tcp = scenario.transport == "tcp"
        protocol = f"{scenario.transport}{scenario.family}"
        if tcp:
            protocol += "-server" if end else "-client"
        server = ["--tls-server", "--dh", "none", "--port", "1194"]
        client = ["--tls-client", "--remote", outer[1], "1194", "--nobind"]
        role = server if end else client
        command = [
            *("ip", "netns", "exec", space.name, str(program), "--dev", f"tun{end}", "--dev-type", "tun"),
            *("--disable-dco", "--proto", protocol, *role),
            *("--ifconfig", INNER[end], INNER[1 - end], "--tun-mtu", str(scenario.mtu), "--mssfix", "0"),
            *("--cert", f"{WORK}/{name}.crt", "--key", f"{WORK}/{name}.key"),
            *("--peer-fingerprint", self._prints[1 - end], "--data-ciphers", scenario.cipher),
            *("--log", f"{WORK}/{name}.log", "--verb", "3"),
            # With one CPU the daemons take turns, what waits for them needs room.
            *("--txqueuelen", "5000", "--rcvbuf", str(BUFFER), "--sndbuf", str(BUFFER)),
        ]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _identity(name: str) -> str:
    """A key and a certificate that only its fingerprint vouches for."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", f"{WORK}/{name}.key", "-out", f"{WORK}/{name}.crt", "-subj", f"/CN={name}", "-days", "365")
    text = run("openssl", "x509", "-fingerprint", "-sha256", "-in", f"{WORK}/{name}.crt", "-noout")
    return text.strip().partition("=")[2]


def _wait_up(log: Path) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if log.exists() and re.search("Initialization Sequence Completed", log.read_text(errors="replace")):
            return
        time.sleep(0.2)
    raise RuntimeError(f"openvpn never came up, the end of its log: {log.read_text(errors='replace')[-1500:]}")
