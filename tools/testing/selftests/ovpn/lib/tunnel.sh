# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A whole tunnel: two namespaces, certificates, a server and a client.

TUNNEL_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

tunnel_ground() {
	module_load
	# For a daemon that does without offload; it does not load it itself.
	modprobe tun
	netns_up
	pki_up
	at_end openvpn_stop_all
	at_end iperf_server_stop
}

# tunnel_client4 / tunnel_client6: the address the server gave the client.
tunnel_client4() {
	ip -n "$NS_CLIENT" -4 -j address show dev "$TUN_DEV" | jq -r '.[0].addr_info[0].local'
}

tunnel_client6() {
	ip -n "$NS_CLIENT" -6 -j address show dev "$TUN_DEV" |
		jq -r '[.[0].addr_info[] | select(.scope == "global")][0].local'
}

# Both daemons must have handed their data channel to the kernel.
tunnel_assert_dco() {
	local name
	for name in "$@"; do
		if grep -i "disabl.* data channel offload" "$WORK/$name.log"; then
			fail "openvpn '$name' does without offload"
		fi
		grep -q "DCO device $TUN_DEV opened" "$WORK/$name.log" ||
			fail "openvpn '$name' opened no DCO device"
		# The daemon prints the version of a module that has one.
		if module_is_ours; then
			grep -q "DCO version: $(cat /sys/module/ovpn/version)\$" "$WORK/$name.log" ||
				fail "openvpn '$name' does not see our module's version"
		fi
	done
}

tunnel_assert_no_dco() {
	local name
	for name in "$@"; do
		if grep -q "DCO device $TUN_DEV opened" "$WORK/$name.log"; then
			fail "openvpn '$name' uses offload, it was told not to"
		fi
		grep -q "TUN/TAP device $TUN_DEV opened" "$WORK/$name.log" ||
			fail "openvpn '$name' opened no TUN device"
	done
}

# tunnel_show NAMESPACE WHAT..: what the driver says of the tunnel's link.
tunnel_show() {
	local namespace=$1 what=$2
	shift 2
	ip netns exec "$namespace" "$TUNNEL_LIB/show.py" "$what" "$TUN_DEV" "$@"
}

# tunnel_key NAMESPACE: the id of the key that peer 0 is sent records with.
tunnel_key() {
	tunnel_show "$1" key 0 primary | jq .key_id
}

# tunnel_key_moved NAMESPACE ID: that key is no longer the one with this id.
tunnel_key_moved() {
	[ "$(tunnel_key "$1")" != "$2" ]
}
