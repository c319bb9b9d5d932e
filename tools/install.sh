#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Put our module before the in-tree one of the same name, and take it away again:
# depmod prefers what lies in updates/.
# Usage: install.sh install FILE | uninstall
set -euo pipefail

die() {
	printf 'install: error: %s\n' "$*" >&2
	exit 1
}

# Where it goes for a kernel release.
place() {
	echo "${DESTDIR:-}/lib/modules/$1/updates/ovpn.ko"
}

install_module() {
	local file=$1 release target
	[ -f "$file" ] || die "there is no $file; build it with: make modules"
	release=$(modinfo -F vermagic "$file" | cut -d' ' -f1)
	[ -d "${DESTDIR:-}/lib/modules/$release" ] ||
		die "the module is for the kernel $release, which is not installed here (this one runs $(uname -r))"
	target=$(place "$release")
	install -D -m 644 "$file" "$target"
	update "$release"
	echo "installed $target; a loaded module stays until: rmmod ovpn"
	[ "$release" = "$(uname -r)" ] || echo "note: the running kernel is $(uname -r)"
}

uninstall_module() {
	local target release found=0
	for target in "${DESTDIR:-}"/lib/modules/*/updates/ovpn.ko; do
		[ -e "$target" ] || continue
		found=1
		release=$(basename "$(dirname "$(dirname "$target")")")
		rm "$target"
		update "$release"
		echo "removed $target; the in-tree module is the default again"
	done
	[ "$found" -eq 1 ] || echo "nothing to do, our module is not installed"
}

update() {
	depmod ${DESTDIR:+-b "$DESTDIR"} "$1"
}

for tool in modinfo depmod; do
	command -v "$tool" >/dev/null || die "$tool is missing; it is in the package kmod"
done
[ -n "${DESTDIR:-}" ] || [ "$(id -u)" -eq 0 ] || die "only root may change /lib/modules; use sudo"
case ${1:-} in
install) install_module "${2:?the module file}" ;;
uninstall) uninstall_module ;;
*) die "usage: install.sh install FILE | uninstall" ;;
esac
