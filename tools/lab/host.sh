# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the lab needs of the machine it runs on.

# command:package
HOST_TOOLS="mmdebstrap:mmdebstrap unshare:util-linux flock:util-linux
	dpkg-deb:dpkg sha256sum:coreutils xz:xz-utils"

host_check() {
	local missing=() pair packages
	[ "$(uname -m)" = x86_64 ] || die "the lab is for x86_64 machines, this is $(uname -m)"
	for pair in $HOST_TOOLS; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
	done
	am_root || command -v newuidmap >/dev/null || missing+=(uidmap)
	[ -e "$DEBIAN_KEYRING" ] || missing+=(debian-archive-keyring)
	if [ "${#missing[@]}" -gt 0 ]; then
		packages=${missing[*]}
		host_install "$packages"
	fi
	am_root || user_namespaces_work ||
		die "without root the lab needs user namespaces and entries for $(id -un) in /etc/subuid and /etc/subgid"
}

am_root() {
	[ "$(id -u)" -eq 0 ]
}

host_install() {
	local packages=$1
	am_root || die "tools are missing; as root: apt-get install $packages"
	command -v apt-get >/dev/null || die "tools are missing, install these Debian packages or what your system calls them: $packages"
	say "installing on this machine: $packages"
	# shellcheck disable=SC2086 # a list of packages
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } \
		>"$LAB/log/host.log" 2>&1 ||
		die "apt-get install $packages failed; the log is $LAB/log/host.log"
}

user_namespaces_work() {
	unshare --map-root-user --map-auto --mount true 2>/dev/null
}

# A tree with files of other users (sub-ids) can only be removed from inside
# the namespace that made them.
remove_tree() {
	if am_root; then
		rm -rf --one-file-system "$@"
	else
		unshare --map-root-user --map-auto rm -rf --one-file-system "$@"
	fi
}

# as_lab_root CMD..: root over the lab's own files.
as_lab_root() {
	if am_root; then
		"$@"
	else
		unshare --map-root-user --map-auto "$@"
	fi
}
