# SPDX-License-Identifier: GPL-2.0
"""The report in Markdown."""

from __future__ import annotations

import report
import table
from summary import Summary
from wall import Wall

INTRODUCTION = """\
# Benchmarks

Written by `{command}`; do not edit. What is counted and how: [method.md](method.md). All figures are in
[results.json](results.json).

| | |
| --- | --- |
| date | {date} |
| driver | {commit} |
| kernel | {kernel}, both modules in the same image |
| compilers | {rustc}; {gcc} |
| emulator | {qemu} |
| duration | {minutes} minutes |

The unit is **executed instructions**, sender and receiver counted apart; fewer is better. Each figure is the median of
the seeds; "spread" is how far the seeds are apart, in the worst column of the row. "Limit" is what cannot be beaten with
the ciphers of this machine: the cipher on contiguous records, TCP without a tunnel and one UDP burst.
"""

SECTIONS = """\
## Ours and C

Instructions per payload byte, a client sends to a server over a veth.

{flows}

## UDP

Instructions per packet.

{packets}

## What else there is

One TCP flow, instructions per payload byte. What is faster than ours is here too.

![systems](systems.svg)

{systems}

"cipher" includes the glue that walks a packet for it; "rest" is everything else, "driver" the tunnel's own module (of
openvpn, the tun device). What openvpn does in user space is in "rest", but for its AES; its ChaCha20 cannot be told from
the rest.

## A server with many peers

Instructions. Packets go to and come from 200 of the peers in turn. Instructions do not show cache misses, which grow with
the tables as well.

![peers](peers.svg)

{peers}

## By the clock

{clock} A sanity check only: emulated CPUs on a machine that does other things too.
"""


def markdown(summary: Summary, facts: dict[str, str], clock: Wall) -> str:
    """The whole report."""
    text = INTRODUCTION.format(**facts) + "\n" + SECTIONS.format(
        flows=table.markdown(report.FLOW_HEAD, report.flows(summary)),
        packets=table.markdown(report.PACKET_HEAD, report.packets(summary)),
        systems=table.markdown(report.SYSTEM_HEAD, report.systems(summary)),
        peers=table.markdown(report.PEER_HEAD, report.peers(summary)),
        clock=report.clock_line(clock),
    )
    doubtful = _doubtful(summary)
    return text + (f"\n## Doubtful\n\n{doubtful}\n" if doubtful else "")


def _doubtful(summary: Summary) -> str:
    """Runs with losses, and what went wrong."""
    lines = [
        f"- {one.driver}, {one.label}, seed {one.seed}: {one.outcome.retransmits} retransmits, not comparable"
        for one in summary.retransmits()
    ]
    lines += sorted({
        f"- {one.driver}, {one.label}: {one.why_not()}" for one in summary.results if one.why_not()
    })
    return "\n".join(lines)
