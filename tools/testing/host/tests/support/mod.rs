// SPDX-License-Identifier: GPL-2.0

//! What several test files need.

use proptest::test_runner::Config;

/// Returns the settings of a property that is tried on `cases` inputs.
///
/// A failing input is printed, not stored: it belongs into a table of cases here, with a name.
pub(crate) fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}
