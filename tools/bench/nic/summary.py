#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Medians of what nic.sh measured, ours beside C. Usage: summary.py FILE"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from statistics import median

HEAD = ("flows", "figure", "ours", "C", "ours / C")
COUNTERS = ("tx_cycles", "tx_insns", "rx_cycles", "rx_insns")


def main(file: str) -> int:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    with open(file, newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            payload = float(row["bytes"])
            values[row["flows"], "Gbit/s", row["module"]].append(8e-9 * payload / float(row["seconds"]))
            for name in COUNTERS:
                if row[name] not in ("-", ""):
                    values[row["flows"], f"{name} per byte", row["module"]].append(float(row[name]) / payload)
    print("\t".join(HEAD))
    for flows, figure in dict.fromkeys((flows, figure) for flows, figure, _ in values):
        ours, c = (values.get((flows, figure, module)) for module in ("ours", "c"))
        if ours and c:
            print(flows, figure, f"{median(ours):.3f}", f"{median(c):.3f}", f"{median(ours) / median(c):.3f}", sep="\t")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
