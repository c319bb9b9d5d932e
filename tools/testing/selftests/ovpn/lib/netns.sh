# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Two network namespaces joined by a veth pair: the server's side and the
# client's, as the Internet between them. Names and addresses are fixed.

NS_SERVER=ovpn-server
NS_CLIENT=ovpn-client
NET_SERVER4=192.0.2.1
NET_CLIENT4=192.0.2.2
NET_SERVER6=2001:db8::1
NET_CLIENT6=2001:db8::2

in_server() {
	ip netns exec "$NS_SERVER" "$@"
}

in_client() {
	ip netns exec "$NS_CLIENT" "$@"
}

netns_up() {
	netns_down
	at_end netns_down
	ip netns add "$NS_SERVER"
	ip netns add "$NS_CLIENT"
	ip link add veth-server netns "$NS_SERVER" type veth peer name veth-client netns "$NS_CLIENT"
	netns_address "$NS_SERVER" veth-server "$NET_SERVER4" "$NET_SERVER6"
	netns_address "$NS_CLIENT" veth-client "$NET_CLIENT4" "$NET_CLIENT6"
	netns_meet "$NET_CLIENT4"
	netns_meet "$NET_CLIENT6"
}

# netns_meet ADDRESS: waits until the server's side gets an answer from it. A new
# link takes its time to be up, and ping gives up when a neighbour is not found in it.
netns_meet() {
	retry 30 in_server ping -q -c 1 -w 2 "$1" >/dev/null || fail "$1 does not answer"
}

# netns_address NAMESPACE LINK IPV4 IPV6
netns_address() {
	ip -n "$1" link set lo up
	ip -n "$1" address add "$3/24" dev "$2"
	ip -n "$1" address add "$4/64" dev "$2" nodad
	ip -n "$1" link set "$2" up
}

netns_down() {
	local name
	for name in "$NS_SERVER" "$NS_CLIENT"; do
		if ip netns pids "$name" >/dev/null 2>&1; then
			ip netns pids "$name" | xargs -r kill -9 || true
			ip netns delete "$name"
		fi
	done
}

# All links of kind ovpn in the first namespace, and the two namespaces.
netns_tidy() {
	ip -j link show type ovpn | jq -r '.[].ifname' | xargs -rn 1 ip link delete
	netns_down
}
