#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A tunnel in use: what happens to it while packets run, and what they count.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns pki openvpn traffic tunnel; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

# The server gives a peer twice the pushed five seconds.
KEEPALIVE=(--keepalive 1 5)
EXPIRY=10
COMPLETED="Initialization Sequence Completed"
HEADERS=24
ICMP=28

comes_up() {
	openvpn_server server udp4 "${KEEPALIVE[@]}"
	openvpn_client client udp4
	tunnel_assert_dco server client
	works
}

# Both ways and both address families.
works() {
	retry 20 reaches_server || fail "the server cannot be reached through the tunnel"
	ping_all "$NS_CLIENT" "$TUN_SERVER4" 1400
	ping_all "$NS_CLIENT" "$TUN_SERVER6" 1400
	ping_all "$NS_SERVER" "$(tunnel_client4)" 1400
}

reaches_server() {
	in_client ping -q -c 1 -W 1 "$TUN_SERVER4" >/dev/null
}

# peer_number NAMESPACE FIELD: of the only peer.
peer_number() {
	tunnel_show "$1" peers | jq -e ".[0].$2"
}

counts() {
	local way packets bytes extra records
	snapshot before
	ping_all "$NS_CLIENT" "$TUN_SERVER4" 1000 100 0.01
	snapshot after
	packets=$(grown "$NS_SERVER" vpn_rx_packets)
	bytes=$(grown "$NS_SERVER" vpn_rx_bytes)
	# The kernel's own IPv6 packets may slip in between, a few and small ones.
	extra=$((packets - 100))
	between "$extra" 0 5 || fail "$packets packets received for 100 pings"
	between $((bytes - 100 * (1000 + ICMP))) 0 $((extra * 200)) ||
		fail "$bytes bytes received for 100 pings of 1000 bytes and $extra others"
	for way in rx tx; do
		packets=$(grown "$NS_CLIENT" "vpn_${way}_packets")
		bytes=$(grown "$NS_CLIENT" "vpn_${way}_bytes")
		records=$(grown "$NS_CLIENT" "link_${way}_packets")
		between "$packets" 100 105 || fail "the client counts $packets packets ($way)"
		# Keepalives are records without a packet.
		between "$records" "$packets" $((packets + 20)) || fail "$records records for $packets packets ($way)"
		[ "$(grown "$NS_CLIENT" "link_${way}_bytes")" -ge $((bytes + packets * HEADERS)) ] ||
			fail "the records are smaller than their contents ($way)"
		[ "$(link_counter "$NS_CLIENT" "$TUN_DEV" "$way" packets)" -ge 100 ] || fail "the link did not count ($way)"
	done
}

between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# snapshot NAME: both ends' peers as they are now.
snapshot() {
	local namespace
	for namespace in "$NS_SERVER" "$NS_CLIENT"; do
		tunnel_show "$namespace" peers >"$WORK/$1.$namespace"
	done
}

# grown NAMESPACE FIELD: from the snapshot before to the one after.
grown() {
	jq -s ".[1][0].$2 - .[0][0].$2" "$WORK/before.$1" "$WORK/after.$1"
}

runs() {
	local way rate
	iperf_server "$NS_SERVER" "$TUN_SERVER4"
	for way in --bidir --reverse "--udp --bitrate 5M --length 1300"; do
		# shellcheck disable=SC2086
		rate=$(iperf_run "$NS_CLIENT" "$TUN_SERVER4" 3 $way)
		[ "$rate" -gt $((1000000 / SLOWER)) ] || fail "iperf3 $way moved $rate bits a second"
		note "iperf3 $way: $rate bits a second"
	done
}

# Each flood has servers of its own: one whose client vanished in the middle
# of a test calls itself busy for as long as that test was to last.
flood() {
	iperf_server_stop
	iperf_server "$NS_SERVER" "$TUN_SERVER4" 5201
	iperf_server "$NS_SERVER" "$TUN_SERVER4" 5210
	flood_start "$NS_CLIENT" "$TUN_SERVER4"
}

stays_loaded() {
	module_is_ours || return 0
	flood
	for _ in 1 2 3; do
		refused rmmod ovpn
	done
	flood_running || fail "the traffic ended"
	flood_stop
	works
}

reconnects() {
	local before
	flood
	for _ in 1 2; do
		before=$(openvpn_log_count client "$COMPLETED")
		kill -USR1 "$(cat "$WORK/client.job")"
		openvpn_wait_log client 60 "$COMPLETED" $((before + 1))
	done
	flood_stop
	works
}

killed_and_restarted() {
	flood
	openvpn_stop client KILL
	retry 20 link_is_gone || clear_link
	flood_stop
	openvpn_forget client
	openvpn_client client udp4
	works
	# The dead one's peer must not stay with the server.
	retry $((EXPIRY + 10)) one_peer || fail "the server keeps the dead client's peer: $(tunnel_show "$NS_SERVER" peers)"
	works
}

# A daemon that was killed cannot delete its link.
link_is_gone() {
	! ip -n "$NS_CLIENT" link show dev "$TUN_DEV" >/dev/null 2>&1
}

clear_link() {
	ip -n "$NS_CLIENT" link delete "$TUN_DEV"
}

one_peer() {
	[ "$(tunnel_show "$NS_SERVER" peers | jq length)" = 1 ]
}

loses_its_link() {
	flood
	clear_link
	link_is_gone || fail "the link is still there"
	sleep 1
	flood_stop
	openvpn_stop client
	openvpn_forget client
	openvpn_client client udp4
	works
}

server_loses_its_link() {
	flood
	ip -n "$NS_SERVER" link delete "$TUN_DEV"
	sleep 1
	flood_stop
	iperf_server_stop
	openvpn_stop client
	openvpn_stop server
	openvpn_forget client
	openvpn_forget server
	comes_up
}

# The client's address changes under it; nobody tells the daemons but the driver.
floats_by_address() {
	local before=192.0.2.2 after=192.0.2.33
	ping_background floating "$NS_CLIENT" "$TUN_SERVER4" 0.1
	ip -n "$NS_CLIENT" address add "$after/24" dev veth-client
	ip -n "$NS_CLIENT" address delete "$before/24" dev veth-client
	# With its first address go the others of that subnet, unless told otherwise.
	ip -n "$NS_CLIENT" address replace "$after/24" dev veth-client
	retry 10 remote_is "$after" || fail "the server's peer is still at $(peer_number "$NS_SERVER" remote_ipv4)"
	openvpn_wait_log server 10 "floated from .*$before:.* to .*$after:"
	ping_result floating
	note "$PING_LOST of $PING_SENT pings lost while the address changed"
	works
	ip -n "$NS_CLIENT" address add "$before/24" dev veth-client
	works
}

remote_is() {
	[ "$(peer_number "$NS_SERVER" remote_ipv4)" = "\"$1\"" ]
}

# As behind a router that forgot its mapping: another source port. Stateless, as
# conntrack gives no mapping to a flow that it first sees from the server.
floats_by_port() {
	local port mapped=20077
	port=$(peer_number "$NS_SERVER" remote_port)
	in_client nft -f - <<-NFT
	table ip mapping {
		chain out {
			type filter hook postrouting priority 0;
			udp dport 1194 udp sport set $mapped
		}
		chain in {
			type filter hook prerouting priority 0;
			udp dport $mapped udp dport set $port
		}
	}
	NFT
	works
	equal "the port of the server's peer" "$(peer_number "$NS_SERVER" remote_port)" "$mapped"
	openvpn_wait_log server 10 "floated from .*:$port to .*:$mapped"
	in_client nft delete table ip mapping
	works
	equal "the port of the server's peer" "$(peer_number "$NS_SERVER" remote_port)" "$port"
}

idles() {
	local before
	before=$(openvpn_log_count client "$COMPLETED")
	sleep $((EXPIRY + 5))
	equal "times the client came up" "$(openvpn_log_count client "$COMPLETED")" "$before"
	retry $((EXPIRY + 10)) one_peer || fail "not one peer: $(tunnel_show "$NS_SERVER" peers)"
	works
}

vanishes() {
	local before
	before=$(openvpn_log_count client "$COMPLETED")
	ip -n "$NS_CLIENT" link set veth-client down
	retry $((EXPIRY + 10)) no_peer || fail "the server keeps a peer that is silent"
	openvpn_wait_log server 10 "ping expired"
	ip -n "$NS_CLIENT" link set veth-client up
	ip -n "$NS_CLIENT" address replace "$NET_CLIENT6/64" dev veth-client nodad
	openvpn_wait_log client 60 "$COMPLETED" $((before + 1))
	works
}

no_peer() {
	[ "$(tunnel_show "$NS_SERVER" peers | jq length)" = 0 ]
}

ends() {
	iperf_server_stop
	flood_stop
	openvpn_stop client
	openvpn_stop server
	refused in_server ip link show dev "$TUN_DEV"
	refused in_client ip link show dev "$TUN_DEV"
	netns_down
	retry 20 module_unused || fail "the module is still in use"
	module_unload
}

tunnel_ground
at_end flood_stop
case_add "a tunnel comes up" comes_up
case_add "peers and links count what runs" counts
case_add "TCP and UDP run, both ways at once too" runs
case_add "the module cannot be unloaded under traffic" stays_loaded
case_add "the client reconnects under traffic" reconnects
case_add "the client is killed under traffic and started again" killed_and_restarted
case_add "the client's link is deleted under traffic" loses_its_link
case_add "the server's link is deleted under traffic" server_loses_its_link
case_add "the client's address changes and the server learns it" floats_by_address
case_add "the client's port changes and the server learns it" floats_by_port
case_add "an idle client stays" idles
case_add "a client that vanished expires, and returns" vanishes
case_add "all is stopped and the module can be unloaded" ends
run_cases
