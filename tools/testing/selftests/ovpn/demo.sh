#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration: an openvpn server and a client talk through the module.
# --shell leaves a shell with the tunnel up, --ktap makes it a test of its own.
# PROTO is udp4, udp6, tcp4 or tcp6.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns pki openvpn traffic tunnel; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

PROTO=${PROTO:-udp4}
# The steps before the renegotiation take their time.
RENEG_AFTER=${RENEG_AFTER:-$((10 * SLOWER))}
IPERF_SECONDS=${IPERF_SECONDS:-5}
HANDSHAKE="Control Channel: TLS"

step_tunnel() {
	tunnel_ground
	if module_is_ours; then
		module_assert_ours
	else
		module_assert_loaded
	fi
	openvpn_server server "$PROTO" --keepalive 10 60 --reneg-sec "$RENEG_AFTER"
	openvpn_client client "$PROTO" --reneg-sec 0
	date +%s >"$WORK/up"
}

step_offload() {
	local name
	tunnel_assert_dco server client
	for name in "$NS_SERVER" "$NS_CLIENT"; do
		equal "kind of $TUN_DEV in $name" "$(link_kind "$name")" ovpn
	done
}

link_kind() {
	ip -n "$1" -d -j link show dev "$TUN_DEV" | jq -r '.[0].linkinfo.info_kind'
}

step_ping() {
	ping_all "$NS_CLIENT" "$TUN_SERVER4" 1400 20
	ping_all "$NS_CLIENT" "$TUN_SERVER6" 1400 20
	ping_all "$NS_SERVER" "$(tunnel_client4)" 1400 20
	ping_all "$NS_SERVER" "$(tunnel_client6)" 1400 20
}

# openvpn's client sends with a new key a moment before the server's daemon has
# installed it, with any driver; a ping in that moment is lost for want of a key.
# So a renegotiation without loss may take three attempts, and a ping that was
# lost for any other reason fails at once.
step_renegotiation() {
	local unknown lost
	for _ in 1 2 3; do
		unknown=$(drops_unknown_key)
		renegotiate
		lost=$PING_LOST
		echo "$PING_SENT $lost" >"$WORK/across"
		[ "$PING_SENT" -ge 20 ] || fail "only $PING_SENT pings ran across the renegotiation"
		[ "$lost" -gt 0 ] || return 0
		[ "$lost" -le $(($(drops_unknown_key) - unknown)) ] ||
			fail "$lost of $PING_SENT pings lost across the renegotiation"
	done
	fail "three renegotiations lost a ping each, for want of a key"
}

# The server renegotiates by its clock; pings run until both ends have new keys.
renegotiate() {
	local before client_key server_key
	before=$(openvpn_log_count server "TLS: soft reset")
	client_key=$(tunnel_key "$NS_CLIENT")
	server_key=$(tunnel_key "$NS_SERVER")
	ping_background across "$NS_CLIENT" "$TUN_SERVER4" 0.2
	openvpn_wait_log server $((RENEG_AFTER + 20)) "TLS: soft reset" $((before + 1))
	openvpn_wait_log server 20 "$HANDSHAKE" $((before + 2))
	openvpn_wait_log client 20 "$HANDSHAKE" $((before + 2))
	retry 10 tunnel_key_moved "$NS_CLIENT" "$client_key" || fail "the client's link still sends with key $client_key"
	# The server keeps to the old key for a while, until the client surely has the new one.
	retry 30 tunnel_key_moved "$NS_SERVER" "$server_key" || fail "the server's link still sends with key $server_key"
	sleep 2
	ping_result across
}

# Records that the server's link dropped since their key was not there. The
# in-tree driver has no such counter, only one for all drops.
drops_unknown_key() {
	if module_is_ours; then
		in_server ethtool -S "$TUN_DEV" | sed -n 's/ *rx_drop_no_key: //p'
	else
		link_counter "$NS_SERVER" "$TUN_DEV" rx dropped
	fi
}

step_throughput() {
	iperf_server "$NS_SERVER" "$TUN_SERVER4"
	iperf_run "$NS_CLIENT" "$TUN_SERVER4" "$IPERF_SECONDS" >"$WORK/upload"
	iperf_bytes >"$WORK/rx.moved"
	iperf_run "$NS_CLIENT" "$TUN_SERVER4" "$IPERF_SECONDS" --reverse >"$WORK/download"
	iperf_bytes >"$WORK/tx.moved"
	iperf_server_stop
	[ "$(cat "$WORK/upload")" -gt 0 ] || fail "iperf3 moved nothing to the server"
	[ "$(cat "$WORK/download")" -gt 0 ] || fail "iperf3 moved nothing to the client"
}

step_counters() {
	local way moved
	for way in rx tx; do
		moved=$(cat "$WORK/$way.moved")
		[ "$(link_counter "$NS_SERVER" "$TUN_DEV" "$way" bytes)" -gt "$moved" ] ||
			fail "the server's link counted fewer bytes than TCP moved ($way, $moved)"
		[ "$(peer_bytes "vpn_${way}_bytes")" -gt "$moved" ] ||
			fail "the server's peer counted fewer bytes than TCP moved ($way, $moved)"
	done
	# The daemon asks the driver for a peer's bytes only now and then.
	retry 30 daemon_has_counted ||
		fail "the server's status file counts fewer bytes than the driver: $(peer_lines)"
}

# The daemon's numbers are the driver's for the records and its own for the
# control channel.
daemon_has_counted() {
	local received sent
	read -r _ _ _ received sent _ < <(peer_lines) || return 1
	[ "$received" -ge "$(peer_bytes link_rx_bytes)" ] && [ "$sent" -ge "$(peer_bytes link_tx_bytes)" ]
}

peer_bytes() {
	tunnel_show "$NS_SERVER" peers | jq ".[0].$1"
}

# Name, real address, address inside, bytes received and sent, cipher.
peer_lines() {
	awk -F'\t' '$1 == "CLIENT_LIST" { print $2, $3, $4, $6, $7, $13 }' "$WORK/server.status"
}

megabits() {
	awk -v bits="$1" 'BEGIN { printf "%.1f Mbit/s", bits / 1e6 }'
}

summary() {
	local name real inside received sent cipher pings lost
	read -r pings lost <"$WORK/across"
	echo
	echo "  module      ovpn $(cat /sys/module/ovpn/version 2>/dev/null || echo "(in-tree)"), kernel $(uname -r)"
	echo "  daemon      $(openvpn --version | head -n 1 | cut -d' ' -f1,2), data channel offload on both ends"
	while read -r name real inside received sent cipher; do
		echo "  peer        $name at $real, inside $inside, $cipher"
		echo "              daemon counts $received bytes from it, $sent to it"
		echo "              driver counts $(peer_bytes vpn_rx_bytes) bytes out of the tunnel, $(peer_bytes vpn_tx_bytes) into it"
	done < <(peer_lines)
	echo "  throughput  $(megabits "$(cat "$WORK/upload")") to the server, $(megabits "$(cat "$WORK/download")") to the client"
	echo "  new keys    after $RENEG_AFTER s, $pings pings across, packets lost = $lost"
	echo
}

demo_shell() {
	cat <<-TEXT
	The tunnel is up: network namespaces $NS_SERVER and $NS_CLIENT, logs in $WORK.
	Try:
	  ip netns exec $NS_CLIENT ping $TUN_SERVER4
	  ip netns exec $NS_CLIENT ping $TUN_SERVER6
	  ip -n $NS_SERVER -d -s link show $TUN_DEV
	  ip netns exec $NS_SERVER tcpdump -ni veth-server port 1194
	  tail -f $WORK/server.log
	  socat - UNIX-CONNECT:$WORK/server.sock      (openvpn's management, try "status")
	Leave with 'exit'.
	TEXT
	cd "$WORK"
	PS1='ovpn# ' bash --norc -i || true
}

STEPS=(
	"the module is loaded and the tunnel comes up" step_tunnel
	"both daemons use data channel offload" step_offload
	"pings pass both ways, IPv4 and IPv6 inside" step_ping
	"a renegotiation loses no packet" step_renegotiation
	"TCP runs both ways" step_throughput
	"links and daemon count the bytes" step_counters
)

as_test() {
	local i
	for ((i = 0; i < ${#STEPS[@]}; i += 2)); do
		case_add "${STEPS[i]}" "${STEPS[i + 1]}"
	done
	run_cases
}

as_demo() {
	local i rc
	for ((i = 0; i < ${#STEPS[@]}; i += 2)); do
		printf '%-50s' "${STEPS[i]}"
		set +e
		(
			set -e
			trap - EXIT
			"${STEPS[i + 1]}"
		) >"$WORK/step" 2>&1 3>&1
		rc=$?
		set -e
		if [ "$rc" -ne 0 ]; then
			echo "FAILED"
			cat "$WORK/step"
			report_logs
			exit 1
		fi
		echo "yes"
	done
	summary
}

case ${1:-} in
--ktap) as_test ;;
--shell)
	as_demo
	demo_shell
	;;
"") as_demo ;;
*)
	echo "Usage: demo.sh [--shell | --ktap]" >&2
	exit 2
	;;
esac
