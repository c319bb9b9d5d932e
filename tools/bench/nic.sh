#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Both modules in turn between two hosts with real NICs: iperf3 for the rate, perf
# for cycles and instructions per byte. Run it as root on one of the hosts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# One noun per file, they only define functions.
for part in options host check module traffic round; do
	# shellcheck source=/dev/null
	. "$here/nic/$part.sh"
done

usage() {
	cat <<-'TEXT'
	Usage: tools/bench/nic.sh check|dry-run|run OPTIONS

	  check     say what is missing on both hosts
	  dry-run   check, then print every command of a run without running it
	  run       check, then measure

	  --dev DEV --address IP            the NIC of this host and its address
	  --remote HOST                     the other host, by ssh as root (or netns:NAME, to try it out)
	  --remote-dev DEV --remote-address IP
	  --ours FILE                       our ovpn.ko, built for the kernel of both hosts
	  --cipher NAME                     AES-128-GCM (default), AES-256-GCM or CHACHA20-POLY1305
	  --flows "1 8 64"                  how many TCP flows (default: 1 8)
	  --rounds N --seconds S            9 rounds of 20 s by default, each with both modules
	  --out FILE                        the figures of each run, tab separated (default: nic.tsv)
	  --force                           measure although the check found something
	TEXT
}

main() {
	local command=${1:-help}
	shift || true
	case $command in
	check | dry-run | run)
		options_parse "$@"
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	remote_prepare
	trap 'tunnel_stop; remote_clean' EXIT
	if check_all; then
		echo "check: nothing is missing"
	elif [ "$command" = check ]; then
		exit 1
	elif [ "$command" = run ] && [ -z "$FORCE" ]; then
		echo "nic.sh: see above, or say --force" >&2
		exit 1
	fi
	case $command in
	dry-run) DRY=1 rounds_run ;;
	run) rounds_run && python3 "$here/nic/summary.py" "$OUT" ;;
	esac
}

main "$@"
