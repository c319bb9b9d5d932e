# SPDX-License-Identifier: GPL-2.0
"""Reading what cargo and unittest print, and stages that cannot run."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import stages


class Cargo(unittest.TestCase):
    def test_sums_all_programs(self) -> None:
        text = (
            "test a::b ... ok\ntest c ... FAILED\n"
            "test result: FAILED. 4 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n"
        )
        tally = stages.count_cargo(text)
        self.assertEqual((tally.passed, tally.failed, tally.skipped), (7, 1, 2))
        self.assertEqual(tally.failures, ["c"])


class Unittest(unittest.TestCase):
    def test_good(self) -> None:
        tally = stages.count_unittest("...\nRan 3 tests in 0.001s\n\nOK\n")
        self.assertEqual((tally.passed, tally.failed), (3, 0))

    def test_bad(self) -> None:
        tally = stages.count_unittest("FAIL: test_x (t.T)\nRan 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n")
        self.assertEqual((tally.passed, tally.failed), (3, 2))


class Debug(unittest.TestCase):
    def test_fails_without_its_kernel(self) -> None:
        with tempfile.TemporaryDirectory() as lab, mock.patch.object(stages, "LAB", Path(lab)):
            tally = stages.debug(stages.Context())
        self.assertEqual((tally.passed, tally.failed), (0, 1))
        self.assertIn("tools/lab/lab setup debug", tally.failures[0])

    def test_comes_between_the_stock_kernel_and_upstreams_tests(self) -> None:
        names = list(stages.STAGES)
        self.assertEqual(names[names.index("vm") :][:3], ["vm", "debug", "upstream"])


if __name__ == "__main__":
    unittest.main()
