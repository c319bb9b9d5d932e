# SPDX-License-Identifier: GPL-2.0
"""Reading what cargo and unittest print."""

import unittest

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


if __name__ == "__main__":
    unittest.main()
