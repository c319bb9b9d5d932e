# shellcheck shell=bash disable=SC2153 # LAB is in lab
# SPDX-License-Identifier: GPL-2.0
# The program that upstream's selftests configure tunnels with, built by upstream's
# own Makefile. Their scripts are read from the kernel's source as they are.

upstream_steps() {
	run_step upstream "$(upstream_key)" "building ovpn-cli for upstream's selftests" upstream_make
}

upstream_is_current() {
	stamp_matches upstream "$(upstream_key)"
}

upstream_key() {
	recipe upstream_make "$(packages_key)" \
		"$(root_versions gcc libmbedtls-dev libnl-3-dev libnl-genl-3-dev)"
}

upstream_make() {
	local tree=$LAB/kernel/tree folder=$LAB/upstream
	remove_tree "$folder"
	mkdir -p "$folder"
	# The root's own kernel headers may be older than the family's last attribute.
	in_root make -C "$tree" -s headers_install INSTALL_HDR_PATH="$folder/usr"
	in_root make -C "$tree/tools/testing/selftests/net/ovpn" OUTPUT="$folder" \
		KHDR_INCLUDES="-isystem $folder/usr/include"
	[ -x "$folder/ovpn-cli" ] || die "the Makefile of upstream's selftests left no $folder/ovpn-cli"
}
