# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The guest: a small Debian and the stock kernel's modules, each packed as a
# cpio archive. The VM runner joins them to an initramfs: seen from RAM a test
# starts at once, from a network file system it took minutes.

guest_steps() {
	run_step guest "$(guest_key)" "making the guest root (a minute or so)" guest_make
	run_step modules "$(modules_key)" "packing the kernel's modules for the guest" modules_make
}

guest_is_current() {
	stamp_matches guest "$(guest_key)" && stamp_matches modules "$(modules_key)"
}

guest_key() {
	recipe "guest_make guest_contents debian_root bootstrap pack package_list" "$SUITE" "$(package_list guest)"
}

modules_key() {
	recipe "modules_make modules_select pack" "$(packages_key)" "$(package_list guest-modules)"
}

guest_make() {
	mkdir -p "$LAB/guest"
	debian_root "$LAB/guest/root" guest
	guest_contents | pack "$LAB/guest/root" "$LAB/guest/root.cpio"
	remove_tree "$LAB/guest/root"
}

# Names of what goes into the archive: no package management, no documentation.
guest_contents() {
	in_root sh -c "cd '$LAB/guest/root' && find . -xdev \
		\( -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log -o -path ./boot \
		-o -path ./usr/share/doc -o -path ./usr/share/man -o -path ./usr/share/locale -o -path ./usr/share/zoneinfo \
		-o -path ./usr/share/perl5 -o -path ./usr/share/bash-completion -o -path ./usr/share/info \
		-o -path ./usr/lib/apt -o -path ./usr/lib/x86_64-linux-gnu/perl-base -o -path ./usr/lib/x86_64-linux-gnu/gconv \
		-o -path ./usr/lib/systemd -o -path ./usr/lib/udev \
		-o -name __pycache__ -o -name 'libapt-*' \) -prune -o -print0"
}

# pack FOLDER FILE: the names on standard input, as the kernel unpacks them.
pack() {
	local folder=$1 file=$2
	# Not compressed: unpacking would cost an emulated CPU seconds at each boot.
	in_root sh -c "cd '$folder' && cpio --null --create --format=newc --quiet >'$file.tmp'"
	mv "$file.tmp" "$file"
}

modules_make() {
	local release from folder=$LAB/guest/modules name
	release=$(kernel_release)
	from=$LAB/kernel/stock/usr/lib/modules/$release
	remove_tree "$folder"
	mkdir -p "$folder/usr/lib/modules/$release"
	cp "$from"/modules.builtin* "$from/modules.order" "$folder/usr/lib/modules/$release/"
	in_root depmod -b "$LAB/kernel/stock/usr" "$release"
	modules_select "$from" | while read -r name; do
		mkdir -p "$folder/usr/lib/modules/$release/$(dirname "$name")"
		# Unpacked here, so that no VM has to.
		xz -dc "$from/$name" >"$folder/usr/lib/modules/$release/${name%.xz}"
	done
	in_root depmod -b "$folder/usr" "$release"
	(cd "$folder" && find . -print0) | pack "$folder" "$LAB/guest/modules.cpio"
	remove_tree "$folder"
}

# The wanted modules and all that they need, by the package's modules.dep.
modules_select() {
	package_list guest-modules | awk '
		NR == FNR { want[$1]; next }
		{ sub(":", "", $1); all[$1] = $0 }
		END {
			for (m in all)
				for (w in want)
					if (index(m, "kernel/" w) == 1) {
						n = split(all[m], names)
						for (i = 1; i <= n; i++) chosen[names[i]]
					}
			for (c in chosen) print c
		}' - "$1/modules.dep"
}
