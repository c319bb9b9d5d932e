# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# The command line of nic.sh.

DEV='' ADDRESS='' REMOTE='' REMOTE_DEV='' REMOTE_ADDRESS='' OURS='' FORCE='' DRY=''
CIPHER=AES-128-GCM
FLOWS='1 8'
ROUNDS=9
LASTS=20
OUT=nic.tsv

options_parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--force)
			FORCE=1
			shift
			continue
			;;
		esac
		[ $# -ge 2 ] || options_die "$1 wants a value"
		case $1 in
		--dev) DEV=$2 ;;
		--address) ADDRESS=$2 ;;
		--remote) REMOTE=$2 ;;
		--remote-dev) REMOTE_DEV=$2 ;;
		--remote-address) REMOTE_ADDRESS=$2 ;;
		--ours) OURS=$(realpath -m "$2") ;;
		--cipher) CIPHER=$2 ;;
		--flows) FLOWS=$2 ;;
		--rounds) ROUNDS=$2 ;;
		--seconds) LASTS=$2 ;;
		--out) OUT=$2 ;;
		*) options_die "there is no option $1" ;;
		esac
		shift 2
	done
	options_complete
}

options_complete() {
	local name
	for name in DEV ADDRESS REMOTE REMOTE_DEV REMOTE_ADDRESS OURS; do
		[ -n "${!name}" ] || options_die "--$(tr A-Z_ a-z- <<<"$name") is missing"
	done
}

options_die() {
	echo "nic.sh: $*; tools/bench/nic.sh help says more" >&2
	exit 2
}
