# SPDX-License-Identifier: GPL-2.0
"""Reading crates from the command lines that Kbuild saves."""

import tempfile
import unittest
from pathlib import Path

import saved

LINE = (
    "savedcmd_{dir}/{name}.o := OBJTREE=/k RUST_MODFILE=./m rustc --edition=2021 {flags} "
    "-Zcrate-attr='feature(a,b)' --cfg MODULE {externs} --crate-type rlib --out-dir {dir}/ /src/{name}.rs  \n"
)


class Crates(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.build = Path(self.folder.name)

    def tearDown(self) -> None:
        self.folder.cleanup()

    def write(self, name: str, externs: tuple[str, ...] = (), flags: str = "") -> None:
        place = self.build / name
        place.mkdir()
        words = " ".join(f"--extern {extern}" for extern in externs)
        text = LINE.format(dir=name, name=name, externs=words, flags=flags)
        (place / f".{name}.o.cmd").write_text(text)

    def test_what_is_needed_comes_first(self) -> None:
        self.write("a_driver", ("kernel", "m_lib"))
        self.write("m_lib", ("kernel", "z_raw"))
        self.write("z_raw", ("kernel",), "--cap-lints=allow")
        found = saved.crates(self.build)
        self.assertEqual([crate.name for crate in found], ["z_raw", "m_lib", "a_driver"])
        self.assertEqual([crate.generated for crate in found], [True, False, False])

    def test_parts_of_a_command(self) -> None:
        self.write("lib", ("kernel",))
        crate = saved.crates(self.build)[0]
        self.assertEqual(crate.root, Path("/src/lib.rs"))
        self.assertEqual(crate.env, {"OBJTREE": "/k", "RUST_MODFILE": "./m"})
        self.assertEqual(crate.edition, "2021")
        self.assertIn("-Zcrate-attr=feature(a,b)", crate.args)

    def test_a_circle_is_an_error(self) -> None:
        self.write("a", ("b",))
        self.write("b", ("a",))
        with self.assertRaises(SystemExit):
            saved.crates(self.build)

    def test_nothing_built_is_an_error(self) -> None:
        with self.assertRaises(SystemExit):
            saved.crates(self.build)


if __name__ == "__main__":
    unittest.main()
