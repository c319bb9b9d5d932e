# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The stock kernel: its packages, and its source prepared so that a module built
# against it loads into the package's own image.

kernel_steps() {
	run_step packages "$(packages_key)" "fetching the kernel $KERNEL_PIN and its source" packages_make
	kernel_announce
	run_step tree "$(tree_key)" "preparing the kernel tree (two minutes or so)" tree_make
	run_step probe "$(probe_key)" "building a module against it" probe_make
}

kernel_is_current() {
	stamp_matches packages "$(packages_key)" && stamp_matches tree "$(tree_key)" &&
		stamp_matches probe "$(probe_key)"
}

kernel_release() {
	[ -e "$LAB/kernel/release" ] || die "there is no kernel yet, make it with: tools/lab/lab setup"
	cat "$LAB/kernel/release"
}

packages_key() {
	recipe "packages_make kernel_pick kernel_fetch" "$KERNEL_SERIES" "$KERNEL_PIN" "$KERNEL_FLAVOUR" "$SUITE"
}

# What is built depends on the packages and on the compilers, not on the rest of
# the root.
tree_key() {
	recipe "tree_make tree_unpack tree_configure tree_build" "$(packages_key)" \
		"$(root_versions rustc rust-src bindgen gcc-14 pahole binutils)"
}

probe_key() {
	recipe probe_make "$(tree_key)"
}

root_versions() {
	local wanted
	wanted=$(printf '%s|' "$@")
	[ ! -e "$LAB/root/var/lib/dpkg/status" ] ||
		awk -v wanted="^(${wanted%|})\$" '/^Package: /{p=$2} /^Version: /{if (p ~ wanted) print p, $2}' \
			"$LAB/root/var/lib/dpkg/status"
}

in_root() {
	(lab_run -- "$@")
}

packages_make() {
	local version release
	# The root may be older than the machine's present mirror.
	mirror_sources >"$LAB/root/etc/apt/sources.list"
	in_root apt-get update
	kernel_pick >"$LAB/kernel.pick"
	read -r version release <"$LAB/kernel.pick"
	remove_tree "$LAB/kernel/packages" "$LAB/kernel/stock.tmp"
	mkdir -p "$LAB/kernel/packages" "$LAB/kernel/stock.tmp"
	kernel_fetch "$version" "$release"
	wait_for_users
	remove_tree "$LAB/kernel/stock"
	mv "$LAB/kernel/stock.tmp" "$LAB/kernel/stock"
	echo "$release" >"$LAB/kernel/release"
	mv "$LAB/kernel.pick" "$LAB/kernel/pick"
}

# The version to use and its release string, of those whose headers and source
# the archive has.
kernel_pick() {
	local found pick
	found=$(in_root apt-cache dumpavail |
		awk -v headers="^linux-headers-${KERNEL_SERIES}[.].*[+]deb[0-9]+-$KERNEL_FLAVOUR\$" \
			-v source="linux-source-$KERNEL_SERIES" '
			/^Package: / { p = $2 }
			/^Version: / { if (p == source) has[$2]; else if (p ~ headers) release[$2] = substr(p, 15) }
			END { for (v in release) if (v in has) print v, release[v] }' |
		sort -V)
	pick=$(awk -v pin="$KERNEL_PIN" '$1 == pin' <<<"$found")
	pick=${pick:-$(tail -n 1 <<<"$found")}
	[ -n "$pick" ] || die "the archive has no kernel for the lab: looked for linux-source-$KERNEL_SERIES and" \
		"linux-headers-$KERNEL_SERIES.*-$KERNEL_FLAVOUR in $SUITE and $SUITE-backports, $KERNEL_PIN or any $KERNEL_SERIES.x"
	echo "$pick"
}

# Says so when the archive no longer had the pinned version.
kernel_announce() {
	local version
	read -r version _ <"$LAB/kernel/pick"
	[ "$version" = "$KERNEL_PIN" ] || say "the archive has no kernel $KERNEL_PIN any more, taking $version instead"
}

kernel_fetch() {
	local version=$1 release=$2 name package
	# linux-base-RELEASE has the configuration, linux-binary-RELEASE the image.
	for name in "linux-source-$KERNEL_SERIES" "linux-headers-$release" "linux-base-$release" \
		"linux-binary-$release" "linux-modules-$release"; do
		(cd "$LAB/kernel/packages" && in_root apt-get -o APT::Sandbox::User=root download "$name=$version")
	done
	# Unpacked, not installed: nothing of theirs has to run.
	for package in "$LAB"/kernel/packages/*.deb; do
		dpkg-deb -x "$package" "$LAB/kernel/stock.tmp"
	done
	rm -r "$LAB/kernel/packages"
}

tree_make() {
	wait_for_users
	remove_tree "$LAB/kernel/tree" "$LAB/kernel/tree.tmp"
	mkdir -p "$LAB/kernel/tree.tmp"
	tree_unpack "$LAB/kernel/tree.tmp"
	# The build records absolute paths, so it happens at the final place; the
	# stamp alone says that it is whole.
	mv "$LAB/kernel/tree.tmp" "$LAB/kernel/tree"
	tree_configure "$LAB/kernel/tree"
	tree_build "$LAB/kernel/tree"
}

# Without the bulk that no module build reads: 1.7 GB become 0.5.
tree_unpack() {
	local top=linux-source-$KERNEL_SERIES skip=() pattern
	for pattern in 'arch/[!x]*.[chS]' '*.dts' '*.dtsi' 'drivers/*.[cS]' 'drivers/gpu/*.h' 'sound/*.[chS]' 'fs/*.c' 'samples/*.c' \
		'Documentation/devicetree/*' 'Documentation/translations/*' 'tools/perf/*'; do
		skip+=("--exclude=$top/$pattern")
	done
	tar -C "$1" --strip-components=1 --anchored --wildcards "${skip[@]}" \
		-xf "$LAB/kernel/stock/usr/src/$top.tar.xz"
}

tree_configure() {
	local tree=$1 release stock
	release=$(kernel_release)
	stock=$LAB/kernel/stock/usr/src/linux-headers-$release
	cp "$stock/.config" "$stock/Module.symvers" "$tree/"
	# With it modules get their BTF.
	cp "$stock/vmlinux" "$tree/"
	in_root make -C "$tree" -s kernelversion
	# The release string is the module's ticket into the stock kernel.
	echo "${release#"$(in_root make -C "$tree" -s kernelversion)"}" >"$tree/localversion"
	in_root make -C "$tree" olddefconfig
}

tree_build() {
	in_root make -C "$1" -j"$(nproc)" prepare modules_prepare
}

# A module built here must carry the stock kernel's release, and Rust must be on.
probe_make() {
	local tree=$LAB/kernel/tree release probe=$LAB/kernel/probe
	release=$(kernel_release)
	[ "$(in_root make -C "$tree" -s kernelrelease)" = "$release" ] ||
		die "the tree calls itself $(in_root make -C "$tree" -s kernelrelease), not $release"
	rm -rf "$probe"
	mkdir -p "$probe"
	echo 'obj-m := probe.o' >"$probe/Kbuild"
	cat >"$probe/probe.rs" <<-'RUST'
	//! The lab's probe.
	use kernel::prelude::*;
	module! { type: Probe, name: "probe", authors: ["lab"], description: "probe", license: "GPL", }
	struct Probe;
	impl kernel::Module for Probe {
	    fn init(_module: &'static ThisModule) -> Result<Self> { Ok(Probe) }
	}
	RUST
	in_root make -C "$tree" M="$probe" modules
	case $(in_root modinfo -F vermagic "$probe/probe.ko") in
	"$release "*) rm -rf "$probe" ;;
	*) die "the probe's vermagic is '$(in_root modinfo -F vermagic "$probe/probe.ko")', not $release" ;;
	esac
}
