#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module itself: what it says of itself, loading and unloading.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in work report module netns; do
	# shellcheck source=/dev/null
	. "$here/lib/$part.sh"
done

ROUNDS=${ROUNDS:-50}
LINK=$here/lib/link.py

says_who_it_is() {
	local file alias
	file=$(module_file)
	modinfo -F alias "$file" >"$WORK/aliases"
	for alias in net-pf-16-proto-16-family-ovpn rtnl-link-ovpn; do
		# The in-tree driver lacks the second one.
		[ "$alias" = rtnl-link-ovpn ] && ! module_is_ours && continue
		grep -qx "$alias" "$WORK/aliases" || fail "no alias $alias"
	done
	equal "name" "$(modinfo -F name "$file")" ovpn
	equal "licence" "$(modinfo -F license "$file")" GPL
	equal "kernel" "$(modinfo -F vermagic "$file" | cut -d' ' -f1)" "$(uname -r)"
	[ -n "$(modinfo -F description "$file")" ] || fail "no description"
	if module_is_ours; then
		modinfo -F version "$file" | grep -q . || fail "no version"
	fi
}

loads_and_unloads() {
	local round
	for ((round = 1; round <= ROUNDS; round++)); do
		module_load
		[ "$(cat /sys/module/ovpn/refcnt)" = 0 ] || fail "in use right after loading, round $round"
		module_unload
		refused module_loaded
	done
}

is_the_one_we_mean() {
	module_load
	if module_is_ours; then
		module_assert_ours
	else
		module_assert_loaded
	fi
	module_unload
}

# With something to tear down each time: links of both modes, one of them up.
loads_used_and_unloads() {
	local round
	for ((round = 1; round <= 10; round++)); do
		module_load
		"$LINK" add mp0 mp
		ip link add p2p0 type ovpn
		ip link set mp0 up
		ip link delete mp0
		ip link delete p2p0
		retry 10 module_unused || fail "still in use after its links are gone, round $round"
		module_unload
	done
}

# Ours holds itself while a link exists; the in-tree driver deletes the links.
stays_while_a_link_exists() {
	module_load
	"$LINK" add tun0 mp
	if module_is_ours; then
		refused rmmod ovpn
		module_loaded || fail "the module is gone although rmmod was refused"
		ip link show tun0
		ip link delete tun0
	fi
	retry 10 module_unused || fail "still in use after the link is gone"
	module_unload
	refused ip link show tun0
}

stays_while_a_namespace_has_a_link() {
	module_load
	netns_up
	in_client "$LINK" add tun0 p2p
	if module_is_ours; then
		refused rmmod ovpn
	fi
	netns_down
	# A namespace is taken apart after its deletion has returned.
	retry 20 module_unused || fail "still in use after the namespace is gone"
	module_unload
}

leaves_nothing() {
	module_load
	module_unload
	if grep -q '^ovpn ' /proc/modules; then
		fail "still in /proc/modules"
	fi
	# Caches and work queues are named after their module.
	if grep '^ovpn' /proc/slabinfo; then
		fail "a slab cache of the module is left"
	fi
	refused genl_family_known
}

# Asking would load the in-tree module, so the answer comes from the list.
genl_family_known() {
	python3 - <<-'PY'
	import struct, sys
	sys.path.insert(0, "lib")
	import nl
	answers = nl.NetlinkSocket(nl.NETLINK_GENERIC).request(0x10, nl.NLM_F_DUMP, struct.pack("=BBH", 3, 1, 0))
	names = [nl.parse(answer.payload[4:])[2] for answer in answers]
	sys.exit(0 if b"ovpn\0" in names else 1)
	PY
}

cd "$here"
module_unload
case_tidy netns_tidy
case_add "the file says who it is" says_who_it_is
case_add "the module that gets loaded is that file" is_the_one_we_mean
case_add "loads and unloads $ROUNDS times" loads_and_unloads
case_add "loads, makes links, unloads ten times" loads_used_and_unloads
case_add "cannot be unloaded while a link exists, can after" stays_while_a_link_exists
case_add "the same with a link in a namespace that goes away" stays_while_a_namespace_has_a_link
case_add "leaves nothing behind" leaves_nothing
run_cases
