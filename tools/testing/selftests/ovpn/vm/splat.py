# SPDX-License-Identifier: GPL-2.0
"""Finding complaints of the kernel in its console log."""

import re

# "[   12.345678] ", with the task or CPU that debug kernels add.
_STAMP = r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?\s"

# Where a kernel's complaint begins. The first group wants the words at the very
# start, since "Spectre V2 : WARNING: ..." is a remark and no splat.
_AT_START = (
    r"WARNING: ",
    r"BUG: ",
    r"BUG [a-z]",
    r"kernel BUG at ",
    r"Oops: ",
    r"Oops - ",
    r"general protection fault",
    r"refcount_t: ",
    r"UBSAN: ",
    r"Kernel panic ",
    r"INFO: task .* blocked for more than",
    r"INFO: possible ",
    r"INFO: suspicious RCU",
    r"INFO: lockdep ",
    r"INFO: trying to register non-static key",
    r"ODEBUG: ",
    r"list_(?:add|del) corruption",
    # But not that the tracker itself had no memory: faults.py sees to that.
    r"ref_tracker: (?!memory allocation failure)",
)
_ANYWHERE = (
    r"-+\[ cut here \]-+",
    r"watchdog: BUG: ",
    r"rcu: INFO: rcu\w* (?:self-)?detected",
    r"possible (?:recursive|circular) locking",
    r"possible (?:irq|interrupt) lock inversion",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"sleeping function called from invalid context",
    r"scheduling while atomic",
    r"unregister_netdevice: waiting for ",
    r"suspect GRO implementation",
    r"kmemleak: \d+ new suspected memory leaks",
    r"rust_kernel: panicked",
    r"workqueue: .* leaked ",
    r"Objects remaining in ",
    r"bad page state",
    r"unable to handle (?:page fault|kernel)",
)
_SPLAT = re.compile(_STAMP + r"\s*(?:(?:" + "|".join(_AT_START) + r")|.*(?:" + "|".join(_ANYWHERE) + r"))")
_END = re.compile(r"---\[ end (?:trace|Kernel panic)")
# Written to the kernel log by the suite, see vm/suite.
_MARK = re.compile(r"ovpn-test: begin (\S+)")

BEFORE = 3
AFTER = 45


class Splat:
    """One complaint: its first line, the test that ran, the lines around it."""

    def __init__(self, title: str, test: str | None, lines: list[str]) -> None:
        self.title = title
        self.test = test
        self.lines = lines


def find(console: str) -> list[Splat]:
    """All complaints in a console log; what follows one closely belongs to it."""
    lines = [line.rstrip("\r") for line in console.split("\n")]
    found: list[Splat] = []
    test = None
    number = 0
    while number < len(lines):
        mark = _MARK.search(lines[number])
        if mark:
            test = mark[1]
        if not _SPLAT.search(lines[number]):
            number += 1
            continue
        end = _end_of(lines, number)
        found.append(Splat(_title(lines[number:end]), test, lines[max(0, number - BEFORE) : end]))
        number = end
    return found


def _end_of(lines: list[str], start: int) -> int:
    """One past the last line of the complaint that begins at `start`."""
    limit = min(len(lines), start + AFTER)
    for number in range(start, limit):
        if _END.search(lines[number]):
            return number + 1
        if number > start and _MARK.search(lines[number]):
            return number
    return limit


def _title(lines: list[str]) -> str:
    """The first line that says something, without its time stamp."""
    for line in lines:
        text = re.sub(_STAMP, "", line).strip()
        if text and "cut here" not in text and set(text) != {"="}:
            return text
    return lines[0]
