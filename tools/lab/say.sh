# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the lab tells a person. Standard output stays free for results.

say() {
	printf 'lab: %s\n' "$*" >&2
}

die() {
	printf 'lab: error: %s\n' "$*" >&2
	exit 1
}
