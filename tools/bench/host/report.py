# SPDX-License-Identifier: GPL-2.0
"""The tables and plots of a full run: for the terminal, and as a document."""

from __future__ import annotations

import suite
import svg
import table
from results import PER_PACKET
from summary import Summary, Value
from wall import Wall

# Title, scenario, figure, which limit.
FLOWS = (
    ("AES-128-GCM, total", "aes", "total", "total"),
    ("AES-128-GCM, TX, NIC with UDP segmentation", "aes-seg", "tx", "tx"),
    ("AES-128-GCM, TX", "aes", "tx", "tx"),
    ("AES-128-GCM, RX", "aes", "rx", "rx"),
    ("ChaCha20-Poly1305, total", "chacha", "total", ""),
    ("ChaCha20-Poly1305, TX, NIC with UDP segmentation", "chacha-seg", "tx", ""),
    ("ChaCha20-Poly1305, TX", "chacha", "tx", ""),
    ("ChaCha20-Poly1305, RX", "chacha", "rx", ""),
    ("8 flows, total", "flows-8", "total", "total"),
    ("64 flows, total", "flows-64", "total", "total"),
    ("IPv6 transport, total", "ipv6", "total", "total"),
    ("IPv6 transport, TX, NIC with UDP segmentation", "ipv6-seg", "tx", "tx"),
    ("TCP transport, total", "tcp", "total", ""),
    ("TCP transport, TX", "tcp", "tx", ""),
    ("TCP transport, RX", "tcp", "rx", ""),
)
COLUMNS = ("", "ours", "C", "ours / C", "limit", "times limit", "spread")

# Title, driver, scenario. Of ours and C in both ways.
SYSTEMS = (
    ("veth, TSO, no tunnel", "none", "veth-tso"),
    ("veth, packets and GRO, no tunnel", "none", "veth-gro"),
    ("MACsec gcm-aes-128", "none", "macsec"),
    ("ESP rfc4106(gcm(aes-128))", "none", "esp"),
    ("ovpn, ours, AES-128-GCM", "ours", "aes"),
    ("ovpn, C, AES-128-GCM", "c", "aes"),
    ("ovpn, ours, ChaCha20-Poly1305", "ours", "chacha"),
    ("ovpn, C, ChaCha20-Poly1305", "c", "chacha"),
    ("WireGuard", "none", "wireguard"),
    ("openvpn --disable-dco, AES-128-GCM", "none", "openvpn"),
    ("openvpn --disable-dco, ChaCha20", "none", "openvpn-chacha"),
)
# In user space only AES has instructions of its own to be told by.
CIPHER_UNKNOWN = {"openvpn-chacha"}
PARTS = ("cipher", "stack", "driver")

# Title, step, figure.
PEER_STEPS = (
    ("RX, a packet", "rx", "rx"),
    ("TX, a packet", "tx", "tx"),
    ("create a peer and its key", "create", "total"),
    ("delete a peer", "delete", "total"),
    ("dump a peer", "dump", "total"),
)


def flows(summary: Summary) -> list[tuple[str, ...]]:
    """Ours beside C, in instructions per byte."""
    rows = []
    for title, label, figure, limit in FLOWS:
        ours, c = summary.value("ours", label, figure), summary.value("c", label, figure)
        bound = suite.LIMITS[limit] if limit else None
        rows.append((
            title, _or_why(summary, ours, "ours", label), _or_why(summary, c, "c", label), _ratio(ours, c),
            table.number(bound), table.number(ours.median / bound) if ours and bound else "-", _spread(ours, c),
        ))
    return rows


def packets(summary: Summary) -> list[tuple[str, ...]]:
    """UDP, in instructions per packet."""
    rows = [
        _packet_row(summary, f"{size} bytes, {figure.upper()}", f"udp-{size}", figure)
        for size in suite.UDP_SIZES
        for figure in ("tx", "rx")
    ]
    return [*rows, _packet_row(summary, f"{suite.TURNS.size} bytes and the answer", suite.TURNS.label, "total")]


def _packet_row(summary: Summary, title: str, label: str, figure: str) -> tuple[str, ...]:
    ours, c = summary.value("ours", label, figure), summary.value("c", label, figure)
    bare = summary.value("none", f"veth-{label}", figure)
    return (
        title, _or_why(summary, ours, "ours", label, 0), _or_why(summary, c, "c", label, 0), _ratio(ours, c),
        bare.shown(0) if bare else "-", _spread(ours, c),
    )


def systems(summary: Summary) -> list[tuple[str, ...]]:
    """Everything, whether it is faster or slower than ours."""
    ours = summary.value("ours", "aes", "total")
    rows = []
    for title, driver, label in SYSTEMS:
        found = {name: summary.value(driver, label, name) for name in ("total", "tx", "rx", "core", "rest", "driver")}
        total = found["total"]
        cells = [value.shown() if value else "-" for value in found.values()]
        cells[0] = _or_why(summary, total, driver, label)
        if label in CIPHER_UNKNOWN:
            cells[3:] = ["-", "-", cells[5]]
        rows.append((title, *cells, _ratio(total, ours), f"{100 * total.spread:.1f} %" if total else "-"))
    return rows


def peers(summary: Summary) -> list[tuple[str, ...]]:
    """A server with many peers: instructions for each packet, or for each peer, and memory."""
    rows = []
    for title, step, figure in PEER_STEPS:
        for driver in ("ours", "c"):
            cells = [_peers_cell(summary, driver, count, step, figure) for count in suite.PEERS]
            rows.append((f"{title}, {driver}", *cells))
    for driver in ("ours", "c"):
        notes = [summary.note(driver, f"peers-{count}.create", "bytes_per_peer") for count in suite.PEERS]
        # One peer is less than what the allocators hand out at once.
        cells = [table.number(note, 0) if note and count > 1 else "-" for note, count in zip(notes, suite.PEERS)]
        rows.append((f"bytes a peer, {driver}", *cells))
    return rows


def _peers_cell(summary: Summary, driver: str, count: int, step: str, figure: str) -> str:
    value = summary.value(driver, f"peers-{count}.{step}", figure)
    # A single request is less than what else goes on meanwhile.
    return value.shown(0) if value and (count > 1 or step in PER_PACKET) else "-"


FLOW_HEAD = COLUMNS
PACKET_HEAD = ("UDP payload", "ours", "C", "ours / C", "no tunnel", "spread")
SYSTEM_HEAD = ("system", "total", "TX", "RX", "cipher", "rest", "of it driver", "of ours", "spread")
PEER_HEAD = ("peers", *(f"{count:,}" for count in suite.PEERS))


def clock_line(clock: Wall) -> str:
    if not clock.ours or not clock.c:
        return "By the clock: not measured."
    ours, c = clock.rates()
    return (
        f"By the clock ({len(clock.ours)} and {len(clock.c)} runs in turn, {clock.accel}): ours {ours:.1f} MiB/s, "
        f"C {c:.1f} MiB/s, time ours / C {clock.ratio():.3f} (medians)."
    )


def terminal(summary: Summary, clock: Wall) -> str:
    """All tables."""
    return "\n".join([
        "Instructions per payload byte, a client sends to a server:\n", table.plain(FLOW_HEAD, flows(summary)),
        "\nInstructions per UDP packet:\n", table.plain(PACKET_HEAD, packets(summary)),
        "\nOne TCP flow, all systems, instructions per payload byte:\n", table.plain(SYSTEM_HEAD, systems(summary)),
        "\nA server with many peers:\n", table.plain(PEER_HEAD, peers(summary)), "", clock_line(clock),
    ])


def files(summary: Summary, facts: dict[str, str], clock: Wall) -> dict[str, str]:
    """The document and its plots by name."""
    import document

    return {
        "README.md": document.markdown(summary, facts, clock),
        "systems.svg": _systems_plot(summary),
        "peers.svg": _peers_plot(summary),
    }


def _systems_plot(summary: Summary) -> str:
    rows = []
    for title, driver, label in SYSTEMS:
        total, core, own = (summary.value(driver, label, name) for name in ("total", "core", "driver"))
        if total and core and own:
            rows.append(svg.Bar(title, (core.median, max(0, total.median - core.median - own.median), own.median)))
    return svg.bars("One TCP flow: sender and receiver together", "instructions per payload byte", PARTS, rows)


def _peers_plot(summary: Summary) -> str:
    rows = []
    for driver in ("ours", "c"):
        for step in ("rx", "tx"):
            points = [(count, summary.value(driver, f"peers-{count}.{step}", step)) for count in suite.PEERS]
            rows.append(svg.Line(f"{step.upper()}, {driver}", tuple((x, y.median) for x, y in points if y)))
    return svg.lines("What a packet costs a server, by the number of its peers", "instructions per packet",
                     [row for row in rows if row.points])


def _or_why(summary: Summary, value: Value | None, driver: str, label: str, digits: int = 2) -> str:
    if value:
        return value.shown(digits)
    return "not supported" if summary.why_not(driver, label).startswith("not supported") else "failed"


def _ratio(value: Value | None, other: Value | None) -> str:
    return table.ratio(value.median if value else None, other.median if other else None)


def _spread(*values: Value | None) -> str:
    """The worst of the columns."""
    found = [value.spread for value in values if value]
    return f"{100 * max(found):.1f} %" if found else "-"
