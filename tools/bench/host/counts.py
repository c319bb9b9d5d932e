# SPDX-License-Identifier: GPL-2.0
"""The plugin's file of counts: for each measurement, for each context, blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

# The plugin books user space to two blocks of its own: the rest, and what has cipher instructions.
USER = 0
USER_CIPHER = 1


@dataclass(frozen=True)
class Block:
    """A piece of straight code and what was executed of it."""

    address: int
    insns: int
    copied: int
    locked: int


@dataclass
class Measurement:
    """What ran between two marks, by context: "task:NAME", "napi:DEVICE" or "work:ADDRESS"."""

    label: str
    contexts: dict[str, list[Block]] = field(default_factory=dict)


def read(file: Path) -> dict[str, Measurement]:
    """All measurements of a boot by their label."""
    found: dict[str, Measurement] = {}
    current: Measurement | None = None
    blocks: list[Block] = []
    with file.open() as lines:
        for line in lines:
            words = line.split()
            match words[0]:
                case "measure":
                    current = found[words[1]] = Measurement(words[1])
                case "context":
                    assert current is not None
                    blocks = current.contexts.setdefault(words[1], [])
                case "end":
                    current = None
                case _:
                    blocks.append(_block(words))
    return found


def _block(words: list[str]) -> Block:
    """address executions starts insns locked cipher unit

    A block that begins with a REP is executed once for each iteration, but started
    once for each time the instruction is: that is what a CPU would count.
    """
    executions, starts, insns, locked = (int(word) for word in words[1:5])
    unit = int(words[6])
    # Each execution, also the one that starts it, moves a unit.
    return Block(int(words[0], 16), starts * insns, executions * unit, executions * locked)
