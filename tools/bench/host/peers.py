# SPDX-License-Identifier: GPL-2.0
"""make bench-peers: a server with very many peers, ours and the in-tree driver's."""

from __future__ import annotations

import boot
import full
import report
import results
import suite
import table
from results import Result
from summary import Summary

SEED = 1


def run(driver: str, count: int, memory: int) -> int:
    """Makes, uses, lists and deletes so many peers with both drivers; prints what one costs."""
    found = [*_measure("ours", driver, count, memory), *_measure("c", "c", count, memory)]
    rows = [(title, *(_cell(found, who, count, step, figure) for who in ("ours", "c"))) for title, step, figure in report.PEER_STEPS]
    print(f"{count:,} peers in one interface; instructions, and bytes of memory:\n")
    print(table.plain(("", "ours", "C"), [*rows, ("bytes a peer", *_bytes(found, count))]))
    return full.complain(found)


def _measure(who: str, driver: str, count: int, memory: int) -> list[Result]:
    scenario = suite.many(count)
    return results.of_boot(who, boot.run(who, suite.module_of(driver), [scenario], SEED, memory), [scenario])


def _cell(found: list[Result], who: str, count: int, step: str, figure: str) -> str:
    value = Summary(found).value(who, f"peers-{count}.{step}", figure)
    return value.shown(0) if value else "-"


def _bytes(found: list[Result], count: int) -> list[str]:
    notes = [Summary(found).note(who, f"peers-{count}.create", "bytes_per_peer") for who in ("ours", "c")]
    return [table.number(note, 0) for note in notes]
