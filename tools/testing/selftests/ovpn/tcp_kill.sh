#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Over TCP: either daemon is killed, ended or told to restart under traffic, ROUNDS
# times, and the tunnel works again each time.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns pki openvpn traffic tunnel; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

ROUNDS=${ROUNDS:-8}
COMPLETED="Initialization Sequence Completed"
WAYS=(client_killed server_killed client_restarts server_restarts client_ended)
PROTOS=(tcp4 tcp6)

server_starts() {
	openvpn_server server "$1" --keepalive 1 5
	tunnel_assert_dco server
}

client_starts() {
	openvpn_client client "$1"
	tunnel_assert_dco client
}

# clear_link NAMESPACE: a daemon that was killed cannot delete its link.
clear_link() {
	ip -n "$1" link delete "$TUN_DEV" 2>/dev/null || true
}

client_killed() {
	openvpn_stop client KILL
	clear_link "$NS_CLIENT"
	openvpn_forget client
	client_starts "$1"
}

client_ended() {
	openvpn_stop client
	openvpn_forget client
	client_starts "$1"
}

client_restarts() {
	comes_back kill -USR1 "$(cat "$WORK/client.job")"
}

# comes_back CMD..: after that the client is there once more, by itself.
comes_back() {
	local before
	before=$(openvpn_log_count client "$COMPLETED")
	"$@"
	openvpn_wait_log client 60 "$COMPLETED" $((before + 1))
}

server_killed() {
	comes_back new_server "$1"
}

new_server() {
	openvpn_stop server KILL
	clear_link "$NS_SERVER"
	openvpn_forget server
	server_starts "$1"
}

server_restarts() {
	comes_back kill -HUP "$(cat "$WORK/server.job")"
}

works() {
	retry 20 reaches_server || fail "the server cannot be reached through the tunnel"
	ping_all "$NS_CLIENT" "$TUN_SERVER4" 1400 3
	ping_all "$NS_SERVER" "$(tunnel_client4)" 100 3
}

reaches_server() {
	in_client ping -q -c 1 -W 1 "$TUN_SERVER4" >/dev/null
}

rounds() {
	local proto=$1 round way
	server_starts "$proto"
	client_starts "$proto"
	works
	for ((round = 0; round < ROUNDS / ${#PROTOS[@]}; round++)); do
		way=${WAYS[round % ${#WAYS[@]}]}
		ping_background across "$NS_CLIENT" "$TUN_SERVER4" 0.01
		"$way" "$proto" || fail "round $round, $way"
		# It may have ended by itself, when its link went.
		kill -INT "$(cat "$WORK/across.ping.pid")" 2>/dev/null || true
		works || fail "round $round, after $way"
	done
	openvpn_stop client
	openvpn_stop server
	openvpn_forget client
	openvpn_forget server
}

all_gone() {
	netns_down
	retry 20 module_unused || fail "the module is still in use"
	module_unload
}

tunnel_ground
for proto in "${PROTOS[@]}"; do
	case_add "$((ROUNDS / ${#PROTOS[@]})) ends of a daemon over $proto" rounds "$proto"
done
case_add "the module can be unloaded" all_gone
run_cases
