# shellcheck shell=bash disable=SC2153
# SPDX-License-Identifier: GPL-2.0
# What a figure from real hardware needs. Everything that is missing is said, not
# only the first thing.

CHECK_MISSING=0

check_all() {
	CHECK_MISSING=0
	check_host remote "the other host" "$REMOTE_DEV"
	check_host check_run "this host" "$DEV"
	check_pair
	[ "$CHECK_MISSING" -eq 0 ]
}

check_run() {
	"$@"
}

missing() {
	CHECK_MISSING=$((CHECK_MISSING + 1))
	echo "missing: $*"
}

# check_host RUN NAME DEV: RUN is the function that runs something there.
check_host() {
	local run=$1 name=$2 dev=$3
	if ! "$run" true 2>/dev/null; then
		missing "$name does not answer (ssh as root without a password, or netns:NAME)"
		return
	fi
	[ "$("$run" id -u)" = 0 ] || missing "$name: root"
	check_programs "$run" "$name"
	check_nic "$run" "$name" "$dev"
	check_steady "$run" "$name" "$dev"
	check_counters "$run" "$name"
}

check_programs() {
	local program
	for program in python3 iperf3 perf ethtool ip insmod modprobe; do
		"$1" sh -c "command -v $program" >/dev/null 2>&1 || missing "$2: the program $program"
	done
}

check_nic() {
	local run=$1 name=$2 dev=$3 driver
	if ! "$run" ip link show dev "$dev" >/dev/null 2>&1; then
		missing "$name: the device $dev"
		return
	fi
	driver=$("$run" ethtool -i "$dev" 2>/dev/null | awk '$1 == "driver:" { print $2 }')
	case $driver in
	veth | tun | dummy | bridge | virtio_net | '') missing "$name: a real NIC, $dev is '${driver:-unknown}'" ;;
	esac
	check_feature "$run" "$name" "$dev" tx-udp-segmentation "UDP segmentation (TX batches cross to the NIC uncut)"
	check_feature "$run" "$name" "$dev" generic-receive-offload "GRO (RX batches)"
	check_feature "$run" "$name" "$dev" tx-checksum "checksums by the NIC"
}

check_feature() {
	"$1" ethtool -k "$3" 2>/dev/null | grep -qE "^[[:space:]]*$4[a-z0-9-]*: on" || missing "$2: $3: $5; try: ethtool -K $3 $4 on"
}

# What makes two runs of the same thing differ.
check_steady() {
	local run=$1 name=$2 dev=$3 governors
	governors=$("$run" sh -c 'cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u' || true)
	case $governors in
	performance) ;;
	'') missing "$name: a frequency governor that can be seen (a VM has none)" ;;
	*) missing "$name: governor performance, it is: $(tr '\n' ' ' <<<"$governors")" ;;
	esac
	if "$run" pgrep -x irqbalance >/dev/null 2>&1; then
		missing "$name: interrupts that stay where they are; stop irqbalance and pin those of $dev"
	fi
	"$run" grep -qE "$dev|$(check_bus "$run" "$dev")" /proc/interrupts 2>/dev/null ||
		missing "$name: interrupts of $dev in /proc/interrupts, to pin them"
}

check_bus() {
	"$1" ethtool -i "$2" 2>/dev/null | awk '$1 == "bus-info:" && $2 { print $2; found = 1 } END { if (!found) print "no-bus" }'
}

check_counters() {
	"$1" perf stat -x, -e cycles,instructions true 2>&1 | grep -qE '^[0-9]+,.*(cycles|instructions)' ||
		missing "$2: hardware counters (perf stat -e cycles,instructions)"
}

check_pair() {
	local release
	release=$(uname -r)
	[ "$(remote uname -r 2>/dev/null)" = "$release" ] || missing "the same kernel on both hosts, here it is $release"
	if [ ! -e "$OURS" ]; then
		missing "our module, there is no $OURS"
	elif [ "$(modinfo -F vermagic "$OURS" | cut -d' ' -f1)" != "$release" ]; then
		missing "our module for the kernel $release, $OURS is for $(modinfo -F vermagic "$OURS" | cut -d' ' -f1)"
	fi
	modinfo ovpn >/dev/null 2>&1 || missing "the in-tree module ovpn of this kernel"
	ping -q -c 1 -W 2 -I "$ADDRESS" "$REMOTE_ADDRESS" >/dev/null 2>&1 ||
		missing "a way from $ADDRESS to $REMOTE_ADDRESS (ping)"
	! remote_is_namespace || missing "a second host, $REMOTE is a namespace of this one"
}
