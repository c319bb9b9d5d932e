# shellcheck shell=bash disable=SC2034,SC2094
# SPDX-License-Identifier: GPL-2.0
# Unmodified openvpn daemons. Each has a name, and by that name a log, a pid
# file, a status file and a management socket in the work folder.

TUN_SERVER4=10.77.0.1
TUN_SERVER6=fd77::1
TUN_DEV=tun0
OPENVPN_WAIT=${OPENVPN_WAIT:-60}
OPENVPN_CIPHERS=AES-256-GCM:AES-128-GCM:CHACHA20-POLY1305

# openvpn_proto PROTO SIDE: udp4 is the same for both sides, tcp4 is not.
openvpn_proto() {
	case $1 in
	tcp*) echo "$1-$2" ;;
	*) echo "$1" ;;
	esac
}

# openvpn_server NAME PROTO OPTION..: PROTO is udp4, udp6, tcp4 or tcp6.
openvpn_server() {
	local name=$1 proto=$2
	shift 2
	openvpn_start "$name" "$NS_SERVER" server --mode server \
		--proto "$(openvpn_proto "$proto" server)" --port 1194 \
		--tls-server --dh none --topology subnet \
		--server 10.77.0.0 255.255.255.0 --server-ipv6 fd77::/64 \
		--data-ciphers "$OPENVPN_CIPHERS" "$@"
	openvpn_wait_up "$name"
}

# openvpn_client NAME PROTO OPTION..: returns when the tunnel is up.
openvpn_client() {
	openvpn_client_start "$@"
	openvpn_wait_up "$1"
}

openvpn_client_start() {
	local name=$1 proto=$2 remote=$NET_SERVER4
	shift 2
	case $proto in
	*6) remote=$NET_SERVER6 ;;
	esac
	openvpn_start "$name" "$NS_CLIENT" "${OPENVPN_IDENTITY:-client}" --client \
		--proto "$(openvpn_proto "$proto" client)" --remote "$remote" 1194 --nobind --remote-cert-tls server \
		--connect-retry 1 3 --data-ciphers "$OPENVPN_CIPHERS" "$@"
}

# openvpn_start NAME NAMESPACE IDENTITY OPTION..: what all daemons have in common.
openvpn_start() {
	local name=$1 namespace=$2 identity=$3
	shift 3
	rm -f "$WORK/$name".{pid,status,sock}
	ip netns exec "$namespace" openvpn --dev "$TUN_DEV" --dev-type tun --verb 4 \
		--ca "$PKI/ca.crt" --cert "$PKI/$identity.crt" --key "$PKI/$identity.key" \
		--log-append "$WORK/$name.log" --writepid "$WORK/$name.pid" \
		--status "$WORK/$name.status" 1 --status-version 3 \
		--management "$WORK/$name.sock" unix "$@" \
		>>"$WORK/$name.log" 2>&1 3>&- </dev/null &
	echo $! >"$WORK/$name.job"
}

openvpn_running() {
	[ -e "$WORK/$1.job" ] && kill -0 "$(cat "$WORK/$1.job")" 2>/dev/null
}

# openvpn_log_count NAME PATTERN
openvpn_log_count() {
	grep -c -- "$2" "$WORK/$1.log" || true
}

# openvpn_wait_log NAME SECONDS PATTERN [COUNT]
openvpn_wait_log() {
	local name=$1 limit=$(($2 * SLOWER)) pattern=$3 count=${4:-1}
	local end=$((SECONDS + limit))
	while [ "$(openvpn_log_count "$name" "$pattern")" -lt "$count" ]; do
		openvpn_running "$name" || fail "openvpn '$name' ended, its log says why"
		[ "$SECONDS" -lt "$end" ] || fail "openvpn '$name' never said '$pattern' within $limit s"
		sleep 0.2
	done
}

openvpn_wait_up() {
	openvpn_wait_log "$1" "$OPENVPN_WAIT" "Initialization Sequence Completed"
}

# openvpn_stop NAME [SIGNAL]: ends it and waits until it is gone.
openvpn_stop() {
	local name=$1 pid
	[ -e "$WORK/$name.job" ] || return 0
	pid=$(cat "$WORK/$name.job")
	kill -"${2:-TERM}" "$pid" 2>/dev/null || true
	retry 20 _openvpn_gone "$pid" || fail "openvpn '$name' does not end"
	rm -f "$WORK/$name.job"
}

_openvpn_gone() {
	! kill -0 "$1" 2>/dev/null || [ "$(ps -o stat= -p "$1" | cut -c1)" = Z ]
}

openvpn_stop_all() {
	local job name
	for job in "$WORK"/*.job; do
		[ -e "$job" ] || continue
		name=${job##*/}
		openvpn_stop "${name%.job}"
	done
}

# openvpn_forget NAME: a fresh log for the next daemon of that name.
openvpn_forget() {
	rm -f "$WORK/$1".{log,status,pid,sock}
}
