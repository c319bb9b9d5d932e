# SPDX-License-Identifier: GPL-2.0
"""The archive writer, against the program that everybody uses."""

import io
import subprocess
import tempfile
import unittest
from pathlib import Path

import cpio


class Archive(unittest.TestCase):
    def test_cpio_unpacks_it(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = folder / "source"
            (source / "sub").mkdir(parents=True)
            (source / "sub/tool").write_text("#!/bin/sh\n")
            (source / "sub/tool").chmod(0o755)
            (source / "link").symlink_to("sub/tool")
            out = io.BytesIO()
            writer = cpio.Writer(out)
            writer.add_tree("there", source)
            writer.add_bytes("there/odd", b"12345")
            writer.close()
            target = folder / "target"
            target.mkdir()
            subprocess.run(["cpio", "-id", "--quiet"], input=out.getvalue(), cwd=target, check=True)
            self.assertEqual((target / "there/odd").read_bytes(), b"12345")
            self.assertEqual((target / "there/link").readlink(), Path("sub/tool"))
            self.assertEqual((target / "there/sub/tool").stat().st_mode & 0o777, 0o755)


if __name__ == "__main__":
    unittest.main()
