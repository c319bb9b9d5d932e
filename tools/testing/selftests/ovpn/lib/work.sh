# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The work folder of a test and what is done when the test ends.

WORK=$(mktemp -d "${TMPDIR:-/tmp}/ovpn-test.XXXXXX")
WORK_AT_END=()

# at_end CMD..: run when the test ends, the last added first.
at_end() {
	WORK_AT_END+=("$(printf '%q ' "$@")")
}

work_end() {
	local i
	for ((i = ${#WORK_AT_END[@]} - 1; i >= 0; i--)); do
		eval "${WORK_AT_END[i]}" >/dev/null 2>&1 || true
	done
	rm -rf "$WORK"
}

trap work_end EXIT
