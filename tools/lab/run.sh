# shellcheck shell=bash disable=SC2153,SC2178 # PROJECT and LAB are in lab
# SPDX-License-Identifier: GPL-2.0
# Running a command in the build root.

# lab_run [--] CMD..: in the current directory, with the project, the lab and the
# folders in OVPN_LAB_BIND (a:b:..) at their own paths. Everything happens in a
# mount namespace of its own, so the host sees none of the mounts, and in a pid
# namespace, so nothing outlives it.
lab_run() {
	local id_map=() inside
	[ "${1:-}" != -- ] || shift
	[ $# -gt 0 ] || die "run: no command given"
	[ -d "$LAB/root" ] || die "there is no lab yet, make it with: tools/lab/lab setup"
	# Held until the command ends, the set-up replaces nothing meanwhile.
	exec {use_fd}>"$LAB/use"
	flock -s "$use_fd"
	am_root || id_map=(--map-root-user --map-auto)
	inside=$(declare -f run_mounts run_bind run_inside)
	exec unshare "${id_map[@]}" --mount --pid --fork --kill-child -- \
		bash -c "set -euo pipefail; $inside; run_inside \"\$@\"" lab \
		"$LAB" "$PROJECT:${OVPN_LAB_BIND:-}" "$PWD" "${HOME:-/root}" "$@"
}

run_inside() {
	local lab=$1 places=$2 cwd=$3 home=$4 root=$1/root rc=0
	shift 4
	run_mounts "$root" "$lab" "$places:$cwd" "$home"
	# Stays as process 1 of the namespace: one without a handler would ignore ^C.
	trap : INT TERM HUP
	# shellcheck disable=SC2016 # expands inside
	chroot "$root" /usr/bin/env \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root LC_ALL=C.UTF-8 TMPDIR=/tmp OVPN_LAB="$lab" OVPN_IN_LAB=1 CARGO_HOME="$lab/cargo" \
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
		bash -c 'cd "$1" && shift && exec "$@"' lab "$cwd" "$@" || rc=$?
	exit "$rc"
}

run_mounts() {
	local root=$1 lab=$2 places=$3 home=$4 place file
	mount --make-rprivate /
	mount --rbind /dev "$root/dev"
	mount --rbind /sys "$root/sys"
	mount -t proc proc "$root/proc"
	mount -t tmpfs tmpfs "$root/tmp"
	mount -t tmpfs tmpfs "$root/run"
	IFS=: read -ra places <<<"$lab:$places"
	for place in "${places[@]}"; do
		case $place in
		# These are the root's own, mounting the host's would hide the toolchain.
		'' | / | /usr* | /bin* | /lib* | /sbin* | /etc* | /proc* | /sys* | /dev*) continue ;;
		esac
		run_bind "$place" "$root$place"
	done
	# The way to the network as the host has it: names, certificates, logins.
	for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /etc/apt/auth.conf; do
		[ ! -e "$file" ] || run_bind "$(readlink -f "$file")" "$root$file"
	done
	[ ! -d /etc/apt/auth.conf.d ] || run_bind /etc/apt/auth.conf.d "$root/etc/apt/auth.conf.d"
	mkdir -p "$lab/cargo"
	for file in config.toml config; do
		if [ -e "${CARGO_HOME:-$home/.cargo}/$file" ]; then
			run_bind "${CARGO_HOME:-$home/.cargo}/$file" "$lab/cargo/$file"
		fi
	done
}

run_bind() {
	local from=$1 to=$2
	if [ -d "$from" ]; then
		mkdir -p "$to"
	elif [ ! -e "$to" ]; then
		mkdir -p "$(dirname "$to")"
		rm -f "$to"
		: >"$to"
	fi
	mount --rbind "$from" "$to"
}
