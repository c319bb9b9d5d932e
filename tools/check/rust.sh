# shellcheck shell=bash disable=SC2154 # tree and out are in check
# SPDX-License-Identifier: GPL-2.0
# Rust: format, lints, documentation.

# The kernel's configuration has options of a nightly rustfmt, of which it warns.
module_rustfmt() {
	rustfmt "$@" --edition 2021 --config-path "$tree/.rustfmt.toml" "${CRATE_ROOTS[@]}" \
		2> >(grep -v 'unstable features are only' >&2)
}

check_rustfmt() {
	module_rustfmt --check --color never &&
		for package in "${PACKAGES[@]}"; do
			(cd "$package" && cargo fmt --check) || return 1
		done
}

# A build of its own, so that the real one is not made anew each time. The
# compilers' warnings are errors here, for Rust and for C.
check_clippy() {
	make --no-print-directory modules BUILD="$out/clippy" CLIPPY=1 KRUSTFLAGS=-Dwarnings KCFLAGS=-Werror |
		{ grep -vE '^(  [A-Z]+ |built )' || true; }
}

check_rustdoc() {
	if [ ! -e "$out/clippy/ovpn.ko" ]; then
		echo "the module does not build, see clippy"
		return 1
	fi
	tools/rust/doc --deny-warnings "$tree" "$out/clippy" "$out/clippy-doc"
}

check_host_clippy() {
	(cd tools/testing/host && CARGO_TARGET_DIR=$out/host cargo clippy --quiet --locked --all-targets -- -D warnings) &&
		(cd tools/testing/host/fuzz &&
			CARGO_TARGET_DIR=$out/fuzz-targets cargo clippy --quiet --locked --release -- -D warnings) &&
		for program in packet-fuzz netlink-fuzz; do
			(cd "tools/testing/$program" &&
				CARGO_TARGET_DIR=$out/$program cargo clippy --quiet --locked --release -- -D warnings) || return 1
		done
}
