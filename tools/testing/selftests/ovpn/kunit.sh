#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The test suites that are in the module itself: a kernel with KUnit runs them when
# the module has been loaded, and prints what came of it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

# Those that must report, one for each `#[kunit_tests(NAME)]` below rust/.
SUITES=(ovpn_aead ovpn_netlink ovpn_percpu ovpn_rcu ovpn_skbuff ovpn_workqueue)

# Which suites KUnit runs. They do so before insmod returns.
FILTER=/sys/module/kunit/parameters/filter_glob

load() {
	[ -w "$FILTER" ] || fail "this kernel has no KUnit"
	# Without a newline, it would be part of the name.
	printf '*' >"$FILTER"
	dmesg --clear
	module_load
	printf only-when-asked >"$FILTER"
	dmesg --notime >"$WORK/kunit.log"
	grep -q 'KTAP version' "$WORK/kunit.log" || fail "KUnit ran nothing: is it enabled in this kernel, and the module built for it?"
	module_unload
}

suite_passes() {
	local verdict
	verdict=$(grep -E "^# $1: pass:" "$WORK/kunit.log") || fail "the suite $1 did not report"
	note "$verdict"
	[[ $verdict =~ pass:([0-9]+)\ fail:0\ skip:0 ]] || fail "$verdict"
	[ "${BASH_REMATCH[1]}" -gt 0 ] || fail "no test in $1"
	grep -qE "^ok [0-9]+ $1$" "$WORK/kunit.log" || fail "no 'ok' for $1"
}

nothing_else_reported() {
	local found
	found=$(sed -nE 's/^(not )?ok [0-9]+ (\w+).*/\2/p' "$WORK/kunit.log" | sort | xargs)
	equal "suites" "$found" "${SUITES[*]}"
	refused grep 'not ok' "$WORK/kunit.log"
}

case_add "the module's suites run when it is loaded" load
for suite in "${SUITES[@]}"; do
	case_add "suite $suite" suite_passes "$suite"
done
case_add "each suite is known here, and none failed" nothing_else_reported
run_cases
