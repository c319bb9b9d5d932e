# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The debug kernel: the same source with sanitizers, lock checks and fault
# injection. Only 'lab setup debug' makes it, it takes a quarter of an hour on two idle cores.

debug_steps() {
	run_step debug-source "$(debug_source_key)" "unpacking the source of the debug kernel (a minute or so)" debug_source_make
	run_step debug-kernel "$(debug_kernel_key)" "building the debug kernel (a quarter of an hour on two idle cores)" debug_kernel_make
}

debug_is_current() {
	stamp_matches debug-source "$(debug_source_key)" && stamp_matches debug-kernel "$(debug_kernel_key)"
}

debug_release() {
	[ -e "$LAB/debug/release" ] || die "there is no debug kernel yet, make it with: tools/lab/lab setup debug"
	cat "$LAB/debug/release"
}

debug_source_key() {
	recipe debug_source_make "$(packages_key)"
}

debug_kernel_key() {
	recipe "debug_kernel_make debug_configure debug_build debug_modules" "$(debug_source_key)" "$(debug_options)" \
		"$(root_versions rustc rust-src bindgen clang-19 lld-19)"
}

debug_fragment() {
	echo "$PROJECT/tools/testing/selftests/ovpn/debug.config"
}

debug_options() {
	grep -Ev '^(#|$)' "$(debug_fragment)"
}

# make with the compiler that the sanitizers want, polite to whatever else runs.
debug_make() {
	in_root nice -n 10 make -C "$LAB/debug/tree" LLVM=-19 "$@"
}

# Without the bulk that is neither built nor read.
debug_source_make() {
	local top=linux-source-$KERNEL_SERIES skip=() pattern
	for pattern in 'arch/[!x]*.[chS]' '*.dts' '*.dtsi' 'drivers/gpu/*.[ch]' 'drivers/media/*.[ch]' 'drivers/staging/*.[ch]' \
		'drivers/net/ethernet/*.[ch]' 'drivers/net/wireless/*.[ch]' 'drivers/infiniband/*.[ch]' 'drivers/scsi/*.[ch]' \
		'drivers/iio/*.[ch]' 'sound/*.[chS]' 'samples/*.c' 'Documentation/devicetree/*' 'Documentation/translations/*' \
		'tools/perf/*' 'tools/testing/*.[ch]'; do
		skip+=("--exclude=$top/$pattern")
	done
	wait_for_users
	remove_tree "$LAB/debug"
	mkdir -p "$LAB/debug/tree"
	tar -C "$LAB/debug/tree" --strip-components=1 --anchored --wildcards "${skip[@]}" \
		-xf "$LAB/kernel/stock/usr/src/$top.tar.xz"
}

debug_kernel_make() {
	debug_configure
	debug_build
	debug_modules
}

debug_configure() {
	local lost
	debug_make KCONFIG_ALLCONFIG="$(debug_fragment)" allnoconfig
	# The configuration drops what it does not know or what misses something.
	lost=$(debug_options | grep -vxFf "$LAB/debug/tree/.config" || true)
	[ -z "$lost" ] || die "the debug kernel cannot have these options of $(debug_fragment): ${lost//$'\n'/ }"
}

debug_build() {
	debug_make -j"$(nproc)" bzImage modules
	debug_make -s kernelrelease >"$LAB/debug/release"
}

# The modules for the guest, as an archive beside the kernel.
debug_modules() {
	local folder=$LAB/debug/modules
	remove_tree "$folder"
	debug_make -s INSTALL_MOD_PATH="$folder/usr" modules_install
	rm -f "$folder"/usr/lib/modules/*/build
	(cd "$folder" && find . -print0) | pack "$folder" "$LAB/debug/modules.cpio"
	remove_tree "$folder"
}
