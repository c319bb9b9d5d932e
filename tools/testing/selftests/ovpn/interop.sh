#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Our data channel on one side, openvpn's own (--disable-dco) on the other:
# both roles, each cipher, IPv4 and IPv6 transport, packets of every size. PROTOS
# says which transports.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns pki openvpn traffic tunnel; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

CIPHERS=(AES-128-GCM AES-256-GCM CHACHA20-POLY1305)
read -ra PROTOS <<<"${PROTOS:-udp4 udp6}"
SIZES=(1 64 1400 1500 3000 8000)

# role_start ROLE PROTO: the server, ours or theirs, serves three ciphers.
role_start() {
	local role=$1 proto=$2
	if [ "$role" = server ]; then
		openvpn_server server "$proto" --keepalive 10 60
		tunnel_assert_dco server
	else
		openvpn_server server "$proto" --keepalive 10 60 --disable-dco
		tunnel_assert_no_dco server
	fi
}

role_stop() {
	openvpn_stop client
	openvpn_stop server
	openvpn_forget client
	openvpn_forget server
}

# cell ROLE PROTO CIPHER: one client against the running server.
cell() {
	local role=$1 proto=$2 cipher=$3 size inside
	openvpn_running server || fail "there is no server"
	openvpn_stop client
	openvpn_forget client
	if [ "$role" = client ]; then
		openvpn_client client "$proto" --data-ciphers "$cipher"
		tunnel_assert_dco client
	else
		openvpn_client client "$proto" --data-ciphers "$cipher" --disable-dco
		tunnel_assert_no_dco client
	fi
	grep -q "Data Channel: cipher '$cipher'" "$WORK/client.log" || fail "the tunnel does not use $cipher"
	inside=$(tunnel_client4)
	for size in "${SIZES[@]}"; do
		ping_all "$NS_CLIENT" "$TUN_SERVER4" "$size" 5 0.02
		ping_all "$NS_SERVER" "$inside" "$size" 5 0.02
	done
	for size in 1 1500 8000; do
		ping_all "$NS_CLIENT" "$TUN_SERVER6" "$size" 5 0.02
	done
	no_errors "$role"
}

# Drops are no fault: link-local packets of the other side are not a peer's own.
no_errors() {
	local namespace=$NS_SERVER way
	if [ "$1" = client ]; then
		namespace=$NS_CLIENT
	fi
	for way in rx tx; do
		equal "$way errors of our link" "$(link_counter "$namespace" "$TUN_DEV" "$way" errors)" 0
	done
}

# pair OPTION..: two daemons without a server's role, each has one peer; the
# options are the other side's.
pair() {
	local proto=${PROTOS[0]} address
	openvpn_start server "$NS_SERVER" server --proto "$(openvpn_proto "$proto" server)" --port 1195 --tls-server --dh none \
		--ifconfig 10.66.0.1 10.66.0.2 --ifconfig-ipv6 fd66::1/64 fd66::2 --keepalive 10 60
	openvpn_start client "$NS_CLIENT" client --proto "$(openvpn_proto "$proto" client)" \
		--remote "$NET_SERVER4" 1195 --nobind --tls-client \
		--ifconfig 10.66.0.2 10.66.0.1 --ifconfig-ipv6 fd66::2/64 fd66::1 --keepalive 10 60 "$@"
	openvpn_wait_up server
	openvpn_wait_up client
	tunnel_assert_dco server
	if [ $# -eq 0 ]; then
		tunnel_assert_dco client
	else
		tunnel_assert_no_dco client
	fi
	for address in 10.66.0.1 fd66::1; do
		ping_all "$NS_CLIENT" "$address" 1400
		ping_all "$NS_CLIENT" "$address" 8000
	done
	no_errors server
}

tunnel_ground
for proto in "${PROTOS[@]}"; do
	for role in server client; do
		case_add "our $role over $proto starts" role_start "$role" "$proto"
		for cipher in "${CIPHERS[@]}"; do
			case_add "our $role, $cipher, $proto" cell "$role" "$proto" "$cipher"
		done
		case_add "our $role over $proto ends" role_stop
	done
done
case_add "two of ours without a server's role" pair
case_add "that ends" role_stop
case_add "ours and theirs without a server's role" pair --disable-dco
case_add "that ends, too" role_stop
run_cases
