# shellcheck shell=bash disable=SC2034 # read in rust.sh
# SPDX-License-Identifier: GPL-2.0
# Which files are ours: what git knows or would add, so nothing that was built.

project_files() {
	git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# The roots of the module's crates, see Kbuild; rustfmt finds the rest by itself.
# cargo's own tools know those of its packages.
PACKAGES=(tools/testing/host tools/testing/host/fuzz tools/testing/packet-fuzz tools/testing/netlink-fuzz)
CRATE_ROOTS=(rust/bindings/ovpn_bindings.rs rust/kernel_ext/kernel_ext.rs drivers/ovpn/ovpn.rs)

shell_files() {
	local file
	project_files '*.sh'
	project_files | while read -r file; do
		case $file in *.*) continue ;; esac
		if head -c 64 "$file" | head -n 1 | grep -qE '^#!.*\b(ba)?sh\b'; then
			echo "$file"
		fi
	done
}

python_files() {
	local file
	project_files '*.py'
	project_files | while read -r file; do
		case $file in *.*) continue ;; esac
		if head -c 64 "$file" | head -n 1 | grep -q '^#!.*python3'; then
			echo "$file"
		fi
	done
}
