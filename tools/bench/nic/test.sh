#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What of nic.sh can be tested without NICs: its checks, its dry run, and a short run
# between two namespaces. Runs in the guest as root.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
NIC=$here/../nic.sh
WORK=$(mktemp -d)
OPTIONS=(--dev nic-a --address 192.0.2.1 --remote netns:nic --remote-dev nic-b --remote-address 192.0.2.2
	--ours "$OVPN_OURS" --out "$WORK/nic.tsv" --rounds 1 --seconds 2 --flows 1)
NUMBER=0
FAILED=0

# says DESCRIPTION FILE PATTERN..: every pattern is in the file.
says() {
	local description=$1 file=$2 pattern result=ok
	shift 2
	for pattern in "$@"; do
		if ! grep -qE -- "$pattern" "$file"; then
			echo "# there is no '$pattern'"
			result='not ok'
		fi
	done
	NUMBER=$((NUMBER + 1))
	if [ "$result" != ok ]; then
		FAILED=1
		sed 's/^/# /' "$file"
	fi
	echo "$result $NUMBER $description"
}

# says_not DESCRIPTION FILE PATTERN
says_not() {
	if grep -E -- "$3" "$2" >"$WORK/found"; then
		says "$1" "$WORK/found" 'nothing of the kind'
	else
		says "$1" "$2" ''
	fi
}

echo "KTAP version 1"
echo "1..7"
ip netns add nic
ip link add nic-a type veth peer nic-b netns nic
ip address add 192.0.2.1/24 dev nic-a
ip -n nic address add 192.0.2.2/24 dev nic-b
ip link set nic-a up
ip -n nic link set nic-b up
ethtool -K nic-a tx-udp-segmentation off
sleep 1

"$NIC" check "${OPTIONS[@]}" >"$WORK/check" 2>&1 && echo 'missing: a failure' >>"$WORK/check"
says "the check says what is missing" "$WORK/check" 'missing: .*a real NIC, nic-a is .veth' \
	'missing: this host: nic-a: UDP segmentation' 'missing: a second host' 'missing: .*hardware counters|program perf' \
	'missing: .*governor'
says_not "the check does not miss what is there" "$WORK/check" \
	'missing: (a way|our module|the in-tree module|the same kernel|.*program (iperf3|python3|ethtool))|a failure'
"$NIC" check "${OPTIONS[@]}" --remote-dev nowhere --ours /nowhere/ovpn.ko --remote-address 192.0.2.9 >"$WORK/check" 2>&1 || true
says "the check misses what is not there" "$WORK/check" 'the device nowhere' 'there is no /nowhere/ovpn.ko' 'a way from'

"$NIC" dry-run "${OPTIONS[@]}" >"$WORK/dry" 2>&1
says "the dry run prints the commands of both hosts" "$WORK/dry" '^here: .*insmod' '^there: .*tunnel.py 1' \
	'^here: .*iperf3 --client' '^there: .*perf stat' '^here: .*modprobe ovpn'
[ ! -d /sys/module/ovpn ] || echo 'a module is loaded' >>"$WORK/dry"
says_not "the dry run changes nothing" "$WORK/dry" 'a module is loaded'

"$NIC" run "${OPTIONS[@]}" --force >"$WORK/run" 2>&1 || echo "nic.sh ended with $?" >>"$WORK/run"
says "a run moves data with both modules" "$WORK/run" '^1	Gbit/s	[0-9.]+	[0-9.]+	[0-9.]+$'
[ ! -e /sys/class/net/ovpn-nic ] || echo 'the tunnel is still there' >>"$WORK/run"
says_not "a run leaves no tunnel" "$WORK/run" 'still there|ended with'
exit "$FAILED"
