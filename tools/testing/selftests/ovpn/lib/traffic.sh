# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# Packets through the tunnel, and what must have become of them.

# ping_all NAMESPACE ADDRESS SIZE [COUNT [INTERVAL]]: none may be lost.
# By itself ping gives the last reply two round trips, too little when emulated;
# with a deadline it waits, and goes on sending what need not be answered. On a slow
# kernel it sends more slowly, too: else these would wait in line before the answers.
ping_all() {
	local namespace=$1 address=$2 size=$3 count=${4:-5} interval out missing
	interval=$(awk "BEGIN { print ${5:-0.05} * $SLOWER }")
	out=$(ip netns exec "$namespace" ping -n -s "$size" -c "$count" -i "$interval" -w $((15 * SLOWER)) "$address") || true
	missing=$(ping_missing "$count" <<<"$out")
	[ -z "$missing" ] ||
		fail "ping from $namespace to $address with $size bytes: no reply to $missing of $count: $(tail -n 3 <<<"$out")"
}

# ping_missing COUNT: the numbers up to COUNT that were not answered.
ping_missing() {
	awk -v count="$1" '
		match($0, /icmp_seq=[0-9]+/) { answered[substr($0, RSTART + 9, RLENGTH - 9)] }
		END { for (i = 1; i <= count; i++) if (!(i in answered)) printf "%s%d", n++ ? " " : "", i }'
}

# ping_background NAME NAMESPACE ADDRESS [INTERVAL]: until ping_result.
ping_background() {
	ip netns exec "$2" ping -n -i "${4:-0.05}" "$3" >"$WORK/$1.ping" 2>&1 3>&- &
	echo $! >"$WORK/$1.ping.pid"
}

# ping_result NAME: ends it, sets PING_SENT and PING_LOST. What was under way
# when it ended, the last second, is not lost.
ping_result() {
	local pid last file=$WORK/$1.ping
	pid=$(cat "$file.pid")
	kill -INT "$pid" 2>/dev/null || true
	retry 10 _openvpn_gone "$pid" || fail "ping '$1' does not end"
	PING_SENT=$(sed -n 's/^\([0-9]*\) packets transmitted.*/\1/p' "$file")
	last=$(sed -n 's/.*icmp_seq=\([0-9]*\) .*/\1/p' "$file" | sort -n | tail -n 1)
	[ -n "$PING_SENT$last" ] || fail "ping '$1' got no reply: $(tail -n 3 "$file")"
	[ "$last" -ge $((${PING_SENT:-0} - 20)) ] || fail "ping '$1' got no replies after $last of $PING_SENT"
	PING_LOST=$(ping_missing "$last" <"$file" | wc -w)
}

# iperf_server NAMESPACE ADDRESS [PORT]
iperf_server() {
	local out=$WORK/iperf-server.${3:-5201}.out
	# What an earlier one said is not the answer to whether this one listens.
	rm -f "$out"
	ip netns exec "$1" iperf3 --server --bind "$2" --port "${3:-5201}" --forceflush \
		>"$out" 2>&1 3>&- </dev/null &
	echo $! >>"$WORK/iperf-server.pids"
	retry 20 grep -q "Server listening" "$out" || fail "iperf3 does not listen on $2: $(cat "$out")"
}

# Waits for their end: the next one wants the same ports.
iperf_server_stop() {
	[ -e "$WORK/iperf-server.pids" ] || return 0
	xargs -r kill -9 <"$WORK/iperf-server.pids" 2>/dev/null || true
	retry 10 iperf_server_gone || fail "iperf3 outlives its SIGKILL"
	rm -f "$WORK/iperf-server.pids"
}

iperf_server_gone() {
	local pid
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done <"$WORK/iperf-server.pids"
}

# iperf_run NAMESPACE ADDRESS SECONDS OPTION..: prints received bits a second.
iperf_run() {
	local namespace=$1 address=$2 seconds=$3 out=$WORK/iperf.json
	shift 3
	ip netns exec "$namespace" timeout $((seconds + 30 * SLOWER)) \
		iperf3 --client "$address" --time "$seconds" --json "$@" >"$out" ||
		fail "iperf3 to $address: $(jq -r '.error // "no answer in time"' "$out")"
	jq -r '.end.sum_received.bits_per_second // .end.sum.bits_per_second | floor' "$out"
}

# The bytes that the last iperf_run has moved.
iperf_bytes() {
	jq -r '.end.sum_received.bytes // .end.sum.bytes' "$WORK/iperf.json"
}

# flood_start NAMESPACE ADDRESS: as much UDP as the machine gives, both ways,
# until flood_stop. What becomes of it does not matter.
flood_start() {
	local way
	for way in "" --reverse; do
		# shellcheck disable=SC2086
		ip netns exec "$1" iperf3 --client "$2" --port $((5201 + ${#way})) --udp --bitrate 0 \
			--length 1200 --time 300 $way >"$WORK/flood$way.out" 2>&1 3>&- </dev/null &
		echo $! >>"$WORK/flood.pids"
	done
	sleep 2
	flood_running || fail "iperf3 does not run: $(cat "$WORK"/flood*.out)"
}

flood_running() {
	local pid
	while read -r pid; do
		kill -0 "$pid" 2>/dev/null || return 1
	done <"$WORK/flood.pids"
}

flood_stop() {
	[ -e "$WORK/flood.pids" ] || return 0
	xargs -r kill -9 <"$WORK/flood.pids" 2>/dev/null || true
	rm -f "$WORK/flood.pids"
}

# link_counter NAMESPACE LINK rx|tx bytes|packets|dropped|errors
link_counter() {
	ip -n "$1" -s -j link show dev "$2" | jq -r ".[0].stats64.$3.$4"
}
