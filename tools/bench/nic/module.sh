# shellcheck shell=bash disable=SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
# Putting one of the two modules in place of the other, on both hosts.

# module_use ours|c
module_use() {
	module_swap here "$1"
	# Namespaces share the kernel.
	remote_is_namespace || module_swap there "$1"
}

module_swap() {
	local run=$1 which=$2
	"$run" sh -c 'if [ -d /sys/module/ovpn ]; then rmmod ovpn; fi'
	"$run" modprobe -a udp_tunnel ip6_udp_tunnel
	if [ "$which" = ours ]; then
		"$run" insmod "$REMOTE_FOLDER/ovpn.ko"
	else
		"$run" modprobe ovpn
	fi
}
