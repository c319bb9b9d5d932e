# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The module under test. OVPN_MODULE is the path of the ovpn.ko to load, or
# OVPN_MODULE_KIND=intree asks for the kernel's own driver.

OVPN_MODULE=${OVPN_MODULE:-}
OVPN_MODULE_KIND=${OVPN_MODULE_KIND:-rust}

module_is_ours() {
	[ "$OVPN_MODULE_KIND" = rust ]
}

module_loaded() {
	[ -d /sys/module/ovpn ]
}

module_unused() {
	[ "$(cat /sys/module/ovpn/refcnt)" = 0 ]
}

# What modinfo and modprobe are asked about.
module_file() {
	if [ -n "$OVPN_MODULE" ] && [ -e "$OVPN_MODULE" ]; then
		echo "$OVPN_MODULE"
	elif module_is_ours; then
		fail "OVPN_MODULE names no file ('$OVPN_MODULE'): build the module and pass its path"
	else
		modinfo -n ovpn
	fi
}

module_load() {
	local file
	if module_loaded; then
		return 0
	fi
	file=$(module_file)
	module_load_needs "$file"
	insmod "$file"
}

# insmod resolves nothing itself, so what the module needs comes first, and stays.
_module_needs_of=
module_load_needs() {
	local need
	[ "$_module_needs_of" != "$1" ] || return 0
	for need in $(modinfo -F depends "$1" | tr , ' '); do
		modprobe "$need"
	done
	_module_needs_of=$1
}

# A socket that a link has had keeps the module until it is freed, which is a while after
# it was closed.
module_unload() {
	if module_loaded; then
		retry 10 module_unused || :
		rmmod ovpn
	fi
}

# The build id in the running module's notes must be in our file: a name or a
# version could be the same in another build, this cannot.
module_assert_loaded() {
	local file
	module_loaded || fail "no module ovpn is loaded"
	file=$(module_file)
	case $file in *.xz | *.zst | *.gz) return 0 ;; esac
	python3 - "$file" <<-'PY' || fail "the loaded ovpn is not the build in $file"
	import glob, sys
	notes = glob.glob("/sys/module/ovpn/notes/.note.gnu.build-id")
	blob = open(sys.argv[1], "rb").read()
	sys.exit(0 if notes and open(notes[0], "rb").read() in blob else 1)
	PY
}

# Ours says who it is; the in-tree driver carries no version.
module_assert_ours() {
	local version
	module_assert_loaded
	version=$(cat /sys/module/ovpn/version 2>/dev/null) ||
		fail "the loaded ovpn has no version: it is the in-tree driver"
	equal "version of the loaded module" "$version" "$(modinfo -F version "$OVPN_MODULE")"
	case $(modinfo -F description "$OVPN_MODULE") in
	*Rust*) ;;
	*) fail "$OVPN_MODULE does not describe itself as the Rust driver" ;;
	esac
}
