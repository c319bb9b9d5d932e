#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Our bursts, received by openvpn's own data path (--disable-dco), byte for byte.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns pki openvpn traffic tunnel; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

BYTES=3000000

starts() {
	openvpn_server server udp4 --keepalive 10 60 --disable-dco
	tunnel_assert_no_dco server
	openvpn_client client udp4 --data-ciphers "$1"
	tunnel_assert_dco client
	retry 20 in_client ping -q -c 1 -W 1 "$TUN_SERVER4" >/dev/null
}

ends() {
	openvpn_stop client
	openvpn_stop server
	openvpn_forget client
	openvpn_forget server
}

# arrives VERSION ADDRESS SEGMENTATION: a file over TCP, the device below cuts
# bursts itself or not.
arrives() {
	local version=$1 address=$2 segmentation=$3 listener records packets
	in_client ethtool -K veth-client tx-udp-segmentation "$segmentation"
	head -c "$BYTES" /dev/urandom >"$WORK/sent"
	in_server socat -u "TCP$version-LISTEN:5001,bind=$address,reuseaddr" "CREATE:$WORK/got" 3>&- &
	listener=$!
	retry 10 listens || fail "socat does not listen"
	# In this order, and the other way round below: what is sent in between shall not be
	# a record without a packet.
	packets=$(link_counter "$NS_CLIENT" veth-client tx packets)
	records=$(sent_records)
	in_client timeout 60 socat -u "OPEN:$WORK/sent" "TCP$version:$address:5001"
	wait "$listener"
	records=$(($(sent_records) - records))
	packets=$(($(link_counter "$NS_CLIENT" veth-client tx packets) - packets))
	cmp "$WORK/sent" "$WORK/got"
	echo "# $records records in $packets packets"
	if [ "$segmentation" = on ]; then
		# A slow receiver does not let them become long.
		[ $((packets * 5)) -lt $((records * 4)) ] || fail "$records records went in $packets packets, not in bursts"
	else
		[ "$packets" -ge "$records" ] || fail "$records records went in $packets packets"
	fi
}

listens() {
	in_server ss -Hltn sport = :5001 | grep -q .
}

sent_records() {
	tunnel_show "$NS_CLIENT" peers | jq -e '.[0].link_tx_packets'
}

tunnel_ground
for cipher in AES-256-GCM CHACHA20-POLY1305; do
	case_add "$cipher starts" starts "$cipher"
	for segmentation in on off; do
		case_add "$cipher, inner IPv4, segmentation $segmentation" arrives 4 "$TUN_SERVER4" "$segmentation"
	done
	case_add "$cipher, inner IPv6" arrives 6 "[$TUN_SERVER6]" on
	case_add "$cipher ends" ends
done
run_cases
