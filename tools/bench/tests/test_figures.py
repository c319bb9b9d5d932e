# SPDX-License-Identifier: GPL-2.0
"""From the plugin's file to figures, tables and plots."""

import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "host"))

import paths  # noqa: E402,F401
import booking  # noqa: E402
import counts  # noqa: E402
import figures  # noqa: E402
import svg  # noqa: E402
import table  # noqa: E402
from booking import Part, Side  # noqa: E402
from plan import Outcome  # noqa: E402
from results import Result  # noqa: E402
from summary import Summary  # noqa: E402
from symbols import Function  # noqa: E402

COUNTS = """\
measure flow
context task:bench-tx
ffffffff81000000 10 10 7 1 0 0
ffffffff81000100 4096 2 1 0 0 1
context napi:vb
ffffffff81000200 100 100 3 0 0 0
context work:ffffffff81000300
ffffffff81000000 1 1 7 1 0 0
end
"""


class Names:
    """Symbols without a kernel."""

    def at(self, address: int) -> Function:
        return {
            0xFFFFFFFF81000000: Function("tcp_sendmsg"),
            0xFFFFFFFF81000100: Function("memcpy"),
            0xFFFFFFFF81000200: Function("aes_gcm_dec", "aesni_intel"),
            0xFFFFFFFF81000300: Function("tcp_tsq_workfn"),
        }[address]


def measured() -> counts.Measurement:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts"
        file.write_text(COUNTS)
        return counts.read(file)["flow"]


class Counting(unittest.TestCase):
    def test_a_rep_counts_its_starts_and_copies_its_iterations(self) -> None:
        block = measured().contexts["task:bench-tx"][1]
        self.assertEqual((block.insns, block.copied), (2, 4096))

    def test_sides_and_parts(self) -> None:
        found = figures.figures(measured(), Names(), 1)  # type: ignore[arg-type]
        self.assertEqual((found.tx, found.rx, found.total), (72 + 7, 300, 379))
        self.assertEqual((found.core, found.rest, found.copied, found.locked), (300, 79, 4096, 11))

    def test_the_devices_change_places(self) -> None:
        self.assertEqual(booking.side("napi:vb", Names(), reverse=True), Side.TX)  # type: ignore[arg-type]
        self.assertEqual(booking.side("task:bench-rx", Names(), reverse=True), Side.RX)  # type: ignore[arg-type]

    def test_parts(self) -> None:
        self.assertEqual(booking.part(Function("anything", "ovpn")), Part.DRIVER)
        self.assertEqual(booking.part(Function("skcipher_walk_next")), Part.CORE)
        self.assertEqual(booking.part(Function("ip_rcv")), Part.STACK)


class Showing(unittest.TestCase):
    def result(self, seed: int, total: float) -> Result:
        return Result("aes", "ours", seed, figures.Figures(total, 1, 1, 1, 1, 1, 1), Outcome("aes"))

    def test_median_and_spread(self) -> None:
        value = Summary([self.result(1, 10), self.result(2, 12), self.result(3, 11)]).value("ours", "aes", "total")
        assert value is not None
        self.assertEqual(value.median, 11)
        self.assertAlmostEqual(value.spread, 2 / 11)

    def test_what_is_missing(self) -> None:
        summary = Summary([Result("tcp", "ours", 1, None, Outcome("tcp", unsupported="TCP"))])
        self.assertIsNone(summary.value("ours", "tcp", "total"))
        self.assertEqual(summary.why_not("ours", "tcp"), "not supported: TCP")

    def test_table(self) -> None:
        self.assertEqual(table.plain(("a", "b"), [("xx", "1")]), "a   b\n--  -\nxx  1")

    def test_plots_are_xml(self) -> None:
        bars = svg.bars("a <b>", "c & d", ("x", "y"), [svg.Bar("one", (1, 2)), svg.Bar("two", (0.3, 0))])
        lines = svg.lines("t", "u", [svg.Line("a", ((1, 10), (1000, 20), (100000, 35)))])
        for text in (bars, lines):
            self.assertEqual(xml.dom.minidom.parseString(text).documentElement.tagName, "svg")


if __name__ == "__main__":
    unittest.main()
