# SPDX-License-Identifier: GPL-2.0
"""Counting KTAP: what is a test, what is a failure, what is missing."""

import unittest

import ktap


def counts(text: str) -> tuple[int, int, int]:
    tally = ktap.count(text)
    return tally.passed, tally.failed, tally.skipped


class Count(unittest.TestCase):
    def test_flat(self) -> None:
        self.assertEqual(counts("KTAP version 1\n1..3\nok 1 a\nnot ok 2 b\nok 3 c # SKIP no\n"), (1, 1, 1))

    def test_a_test_with_subtests_counts_as_these(self) -> None:
        text = "1..1\n    1..2\n    ok 1 x\n    ok 2 y\nok 1 a # 3 s\n"
        self.assertEqual(counts(text), (2, 0, 0))

    def test_a_failure_is_not_counted_twice(self) -> None:
        text = "1..1\n    1..2\n    ok 1 x\n    not ok 2 y\nnot ok 1 a\n"
        self.assertEqual(counts(text), (1, 1, 0))

    def test_a_parent_may_fail_alone(self) -> None:
        text = "1..1\n    1..1\n    ok 1 x\nnot ok 1 a # exit code 3\n"
        self.assertEqual(counts(text), (1, 1, 0))
        self.assertEqual(ktap.count(text).failures, ["a: exit code 3"])

    def test_a_plan_must_be_kept(self) -> None:
        self.assertEqual(counts("1..3\nok 1 a\n"), (1, 2, 0))
        self.assertEqual(counts("1..1\n    1..4\n    ok 1 x\nnot ok 1 a\n"), (1, 3, 0))

    def test_a_run_that_stops_inside_a_test(self) -> None:
        self.assertEqual(counts("1..2\nok 1 a\n    1..2\n    ok 1 x\n"), (2, 2, 0))

    def test_two_tests_do_not_mix(self) -> None:
        text = "1..2\n    ok 1 x\nok 1 a\n    not ok 1 y\nnot ok 2 b\n"
        self.assertEqual(counts(text), (1, 1, 0))
        self.assertEqual(ktap.count(text).failures, ["b: y"])

    def test_skip_in_a_name_is_no_skip(self) -> None:
        self.assertEqual(counts("1..2\nok 1 skip lists\nok 2 - dashed name # SKIP reason\n"), (1, 0, 1))

    def test_other_output_does_not_count(self) -> None:
        self.assertEqual(counts("okay\nnothing\n# ok 1 comment\nok 1 a\n"), (1, 0, 0))

    def test_nothing_is_nothing(self) -> None:
        self.assertEqual(counts(""), (0, 0, 0))


if __name__ == "__main__":
    unittest.main()
