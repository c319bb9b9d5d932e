#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links of kind ovpn as ip and ethtool see them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

LINK=$here/lib/link.py
P2P=0
MP=1
# 84 bytes are kept free for all headers around an inner packet.
MTU=$((1500 - 84))
MTU_MIN=68
MTU_MAX=$((65535 - 84))

# link_field NAME JQ: a field of what 'ip -d link' shows.
link_field() {
	ip -d -j link show dev "$1" | jq -r ".[0]$2"
}

has_flag() {
	[ "$(link_field "$1" ".flags | index(\"$2\") != null")" = true ]
}

# no_link NAME..
no_link() {
	local name
	for name in "$@"; do
		refused ip link show dev "$name"
	done
}

default_mode() {
	ip link add tun0 type ovpn
	equal "kind" "$(link_field tun0 .linkinfo.info_kind)" ovpn
	equal "mode" "$("$LINK" mode tun0)" "$P2P"
	ip link delete tun0
	no_link tun0
}

both_modes() {
	local mode
	for mode in p2p mp; do
		"$LINK" add "$mode" "$mode"
		equal "kind" "$(link_field "$mode" .linkinfo.info_kind)" ovpn
	done
	equal "mode" "$("$LINK" mode p2p)" "$P2P"
	equal "mode" "$("$LINK" mode mp)" "$MP"
	ip link delete p2p
	ip link delete mp
	no_link p2p mp
}

no_other_mode() {
	local mode
	for mode in 2 255; do
		refused "$LINK" add tun0 "$mode"
	done
	no_link tun0
	ip link add tun0 type ovpn
	refused ip link add tun0 type ovpn
	ip link delete tun0
}

looks() {
	local flag
	"$LINK" add tun0 mp
	equal "link type" "$(link_field tun0 .link_type)" none
	for flag in POINTOPOINT NOARP; do
		has_flag tun0 "$flag" || fail "lacks the flag $flag"
	done
	for flag in BROADCAST MULTICAST; do
		refused has_flag tun0 "$flag"
	done
	equal "device type" "$(sed -n s/^DEVTYPE=//p /sys/class/net/tun0/uevent)" ovpn
	ip link set tun0 up
	equal "queueing" "$(link_field tun0 .qdisc)" noqueue
	ip link delete tun0
}

mtu_limits() {
	local mtu
	ip link add tun0 type ovpn
	equal "MTU" "$(link_field tun0 .mtu)" "$MTU"
	equal "least MTU" "$(link_field tun0 .min_mtu)" "$MTU_MIN"
	equal "largest MTU" "$(link_field tun0 .max_mtu)" "$MTU_MAX"
	for mtu in "$MTU_MIN" 1500 9000 "$MTU_MAX"; do
		ip link set tun0 mtu "$mtu"
		equal "MTU" "$(link_field tun0 .mtu)" "$mtu"
	done
	refused ip link set tun0 mtu $((MTU_MIN - 1))
	refused ip link set tun0 mtu $((MTU_MAX + 1))
	equal "MTU" "$(link_field tun0 .mtu)" "$MTU_MAX"
	ip link delete tun0
}

# A peer to peer link has carrier with its peer, see netlink_peer.py.
carrier() {
	"$LINK" add mp mp
	"$LINK" add p2p p2p
	ip link set mp up
	ip link set p2p up
	equal "multipeer carrier" "$(cat /sys/class/net/mp/carrier)" 1
	equal "peer to peer carrier" "$(cat /sys/class/net/p2p/carrier)" 0
	has_flag mp LOWER_UP || fail "multipeer is not LOWER_UP"
	has_flag p2p NO-CARRIER || fail "peer to peer is not NO-CARRIER"
	ip link delete mp
	ip link delete p2p
}

redirects() {
	"$LINK" add mp mp
	"$LINK" add p2p p2p
	ip link set mp up
	ip link set p2p up
	equal "multipeer redirects" "$(sysctl -n net.ipv4.conf.mp.send_redirects)" 0
	equal "peer to peer redirects" "$(sysctl -n net.ipv4.conf.p2p.send_redirects)" 1
	ip link delete mp
	ip link delete p2p
}

tools_see_it() {
	ip link add tun0 type ovpn
	equal "driver" "$(ethtool -i tun0 | sed -n 's/^driver: //p')" ovpn
	equal "bus" "$(ethtool -i tun0 | sed -n 's/^bus-info: //p')" ovpn
	ethtool -k tun0 >"$WORK/features"
	grep -q "^scatter-gather: on" "$WORK/features" || fail "no scatter-gather"
	grep -q "^generic-segmentation-offload: on" "$WORK/features" || fail "no segmentation"
	ip link delete tun0
}

names() {
	local name
	ip link add "vpn%d" type ovpn
	ip link show vpn0
	ip link set vpn0 name a-15-letter-nam
	ip link delete a-15-letter-nam
	no_link vpn0 a-15-letter-nam
	for name in tun0 ovpn tap; do
		ip link add "$name" type ovpn
		ip link delete "$name"
	done
}

hundred() {
	local number
	for number in $(seq 100); do
		echo "link add many$number type ovpn"
		echo "link set many$number up"
	done >"$WORK/batch"
	ip -batch "$WORK/batch"
	equal "links" "$(ip -j link show type ovpn | jq length)" 100
	for number in $(seq 100); do
		echo "link delete many$number"
	done >"$WORK/batch"
	ip -batch "$WORK/batch"
	equal "links" "$(ip -j link show type ovpn | jq length)" 0
}

up_and_down() {
	local round
	"$LINK" add tun0 mp
	ip address add 10.77.0.1/24 dev tun0
	for round in $(seq 20); do
		ip link set tun0 up
		ip link set tun0 down
		has_flag tun0 UP && fail "up after it was set down, round $round"
	done
	ip link delete tun0
}

# Told by the link that sends: nobody is there to get it.
nobody_there() {
	"$LINK" add tun0 mp
	ip address add 10.77.0.1/24 dev tun0
	ip link set tun0 up
	ping -q -c 3 -i 0.1 -W 1 10.77.0.2 && fail "somebody answered"
	equal "drops counted" "$(ip -s -j link show dev tun0 | jq '.[0].stats64.tx.dropped >= 3')" true
	equal "packets counted as sent" "$(ip -s -j link show dev tun0 | jq '.[0].stats64.tx.packets')" 0
	ip link delete tun0
}

moves() {
	netns_up
	"$LINK" add tun0 mp
	ip link set tun0 netns "$NS_SERVER"
	no_link tun0
	equal "mode in the namespace" "$(in_server "$LINK" mode tun0)" "$MP"
	in_server ip link set tun0 up
	equal "redirects in the namespace" "$(in_server sysctl -n net.ipv4.conf.tun0.send_redirects)" 0
	in_server ip link set tun0 netns "$NS_CLIENT" name tun7
	in_client ip link delete tun7
	netns_down
}

goes_with_its_namespace() {
	netns_up
	in_server "$LINK" add tun0 mp
	in_server ip link set tun0 up
	"$LINK" add tun1 p2p
	ip link set tun1 netns "$NS_SERVER"
	in_server ip link set tun1 up
	netns_down
	module_is_ours || return 0
	# Each link holds the module, so this says when they are truly gone.
	retry 20 module_unused || fail "the links outlive their namespace"
}

module_load
at_end module_unload
case_tidy netns_tidy
case_add "without a mode a link is peer to peer" default_mode
case_add "links of both modes come and go" both_modes
case_add "other modes and taken names are refused" no_other_mode
case_add "type, flags and queueing" looks
case_add "MTU and its limits" mtu_limits
case_add "carrier: multipeer has it, peer to peer not without a peer" carrier
case_add "multipeer sends no redirects" redirects
case_add "ethtool" tools_see_it
case_add "names" names
case_add "a hundred links at once" hundred
case_add "up and down twenty times" up_and_down
case_add "a packet to nobody is dropped and counted" nobody_there
case_add "a link moves between namespaces" moves
case_add "a link goes with its namespace" goes_with_its_namespace
run_cases
