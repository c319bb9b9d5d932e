# SPDX-License-Identifier: GPL-2.0
"""The crates of a built module, from the command lines that Kbuild saves.

Kbuild has no targets for the documentation or the editors of external modules
with several crates. But beside every object it keeps the command that made it,
and that command says all: the root file, the flags, the crates it needs."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Crate:
    """One crate, and how it was compiled."""

    name: str
    root: Path
    env: dict[str, str]
    args: list[str]

    @property
    def generated(self) -> bool:
        """Lints are capped where the code is not written by hand."""
        return "--cap-lints=allow" in self.args

    @property
    def externs(self) -> list[str]:
        """The crates it names, in order."""
        return [after for arg, after in zip(self.args, self.args[1:]) if arg == "--extern"]

    @property
    def edition(self) -> str:
        return next(arg.removeprefix("--edition=") for arg in self.args if arg.startswith("--edition="))


def crates(build: Path) -> list[Crate]:
    """All crates that were compiled below `build`, what is needed comes first."""
    found = []
    for file in sorted(build.rglob(".*.o.cmd")):
        match = re.search(r"^savedcmd_\S+ := (.*)$", file.read_text(), re.M)
        if match and "--crate-type" in match[1]:
            found.append(_parse(match[1]))
    ours = {crate.name for crate in found}
    ordered: list[Crate] = []
    while found:
        known = {crate.name for crate in ordered}
        ready = [crate for crate in found if not (set(crate.externs) & ours) - known]
        if not ready:
            raise SystemExit("the crates need each other in a circle: " + ", ".join(c.name for c in found))
        ordered += ready
        found = [crate for crate in found if crate not in ready]
    if not ordered:
        raise SystemExit(f"no crate was built in {build}, first run: make modules")
    return ordered


def _parse(saved: str) -> Crate:
    # As make would read it.
    words = shlex.split(saved.replace("$(pound)", "#").replace("$$", "$"))
    env = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    args = words[1:]
    root = Path(next(word for word in reversed(args) if word.endswith(".rs")))
    args.remove(str(root))
    name = root.stem
    if "--crate-name" in args:
        name = args[args.index("--crate-name") + 1]
    return Crate(name, root, env, args)
