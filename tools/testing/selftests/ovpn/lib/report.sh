# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What a test says: KTAP lines by the kernel's own helpers, cases in order, and
# what went wrong in the output of a failed case.

# The kernel's ktap_helpers.sh is not ours to carry; the runner puts it beside
# the tests, and in a kernel tree it has its usual place.
_report_find_ktap() {
	local here file
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	for file in "${KTAP_HELPERS:-}" "$here"/{,../,../../}{,kselftest/}ktap_helpers.sh; do
		if [ -n "$file" ] && [ -r "$file" ]; then
			echo "$file"
			return 0
		fi
	done
	echo "report: no ktap_helpers.sh near $here, set KTAP_HELPERS to its path" >&2
	return 1
}

# How many times slower than usual this kernel is, as the runner says: what is only a
# matter of quantity is so much less there, and may take so much longer.
SLOWER=${OVPN_SLOWER:-1}

REPORT_CASES=()
REPORT_TIDY=true

# fail WHAT..: ends the case that runs now.
fail() {
	echo "FAILED: $*"
	exit 1
}

# note WHAT..: a diagnostic line, shown whether the case passes or not.
note() {
	echo "# $*" >&3
}

# retry SECONDS CMD..: until CMD succeeds, so many seconds on a kernel of usual speed.
retry() {
	local end=$((SECONDS + $1 * SLOWER))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# equal WHAT GOT WANTED
equal() {
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# refused CMD..: CMD must fail; its output is kept for the report.
refused() {
	if "$@"; then
		fail "'$*' succeeded, it must be refused"
	fi
}

# case_tidy CMD: run after a case that failed, so that the next one starts clean.
case_tidy() {
	REPORT_TIDY=$1
}

# case_add DESCRIPTION CMD..: cases run in the order they were added.
case_add() {
	local description=$1
	shift
	REPORT_CASES+=("$description" "$(printf '%q ' "$@")")
}

# Each case runs in a subshell under errexit: state lives in files and in the
# kernel, and the first command that fails ends the case.
_report_case() {
	local description=$1 command=$2 rc=0 log began=$SECONDS
	log=$(mktemp "$WORK/case.XXXXXX")
	set +e
	(
		set -e
		trap - EXIT
		eval "$command"
	) >"$log" 2>&1 3>&1
	rc=$?
	set -e
	if [ "$rc" -eq 0 ]; then
		grep '^# ' "$log" || true
		ktap_test_pass "$description ($((SECONDS - began)) s)"
	else
		sed 's/^\(# \)\?/# /' "$log"
		report_logs
		"$REPORT_TIDY" >/dev/null 2>&1 || true
		ktap_test_fail "$description"
	fi
}

# The end of every log in the work folder, as diagnostics.
report_logs() {
	local log
	for log in "$WORK"/*.log; do
		[ -s "$log" ] || continue
		echo "# --- the end of ${log##*/}"
		# Not the daemon's list of all its options.
		grep -vE "us=[0-9]+   [][a-z0-9_]+ = " "$log" | tail -n "${REPORT_LOG_LINES:-30}" | sed 's/^/# /'
	done
	echo "# --- the end of the kernel's log"
	dmesg | tail -n 10 | sed 's/^/# /'
}

# run_cases: all that were added; ends the script with the verdict.
run_cases() {
	local i helpers
	helpers=$(_report_find_ktap)
	# shellcheck source=/dev/null
	. "$helpers"
	ktap_print_header
	ktap_set_plan $((${#REPORT_CASES[@]} / 2))
	for ((i = 0; i < ${#REPORT_CASES[@]}; i += 2)); do
		_report_case "${REPORT_CASES[i]}" "${REPORT_CASES[i + 1]}"
	done
	ktap_finished
}
