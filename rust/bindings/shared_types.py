#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print bindgen --blocklist-type parameters for the types two bindings share.

A type that the kernel's `bindings` crate defines in full must be that very type
in our crate too, or a pointer from one could not be passed to the other. What the
kernel's crate only declares (an opaque struct) we define ourselves.

Usage: shared_types.py OURS KERNELS
"""

import re
import sys

DEFINITION = re.compile(
    r"^ *pub (?:struct|union|enum) (?P<name>\w+)[^{(;]*[{(]"
    r"(?:\s*(?P<opaque>_unused: \[u8; 0\]|(?:pub )?_address: u8))?",
    re.MULTILINE,
)
ALIAS = re.compile(r"^ *pub type (\w+) =", re.MULTILINE)

# Ours all the same: their members point at types that the kernel only declares.
OURS = {"ethtool_ops"}


def type_names(path: str) -> set[str]:
    """Names of all types that the generated file defines in full."""
    with open(path, encoding="utf-8") as generated:
        text = generated.read()
    full = {m["name"] for m in DEFINITION.finditer(text) if not m["opaque"]}
    return full | set(ALIAS.findall(text))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    shared = (type_names(sys.argv[1]) & type_names(sys.argv[2])) - OURS
    for name in sorted(shared):
        # Numbered names of unnamed types mean something else in each file.
        if not name.startswith(("__Bindgen", "__Incomplete", "_bindgen_ty_")):
            print(f"--blocklist-type ^{name}$")
    return 0


if __name__ == "__main__":
    sys.exit(main())
