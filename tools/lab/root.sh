# shellcheck shell=bash disable=SC2154 # here is in lab
# SPDX-License-Identifier: GPL-2.0
# The build root.

root_step() {
	run_step root "$(root_key)" "making the build root, a Debian $SUITE (two minutes or so)" root_make
}

root_is_current() {
	stamp_matches root "$(root_key)"
}

root_key() {
	recipe "root_make debian_root bootstrap package_list" "$SUITE" "$(package_list root)"
}

root_make() {
	debian_root "$LAB/root" root
}

package_list() {
	grep -Ev '^(#|$)' "$here/packages/$1"
}

# debian_root FOLDER LIST: a minimal Debian plus a list of packages.
debian_root() {
	local folder=$1 list=$2 sources
	sources=$(mirror_sources)
	remove_tree "$folder.tmp"
	if am_root; then
		bootstrap "$list" "$folder.tmp" <<<"$sources"
	else
		# mmdebstrap's map of users differs from the one that the lab runs with, so
		# the files travel in an archive. Devices cannot be made, /dev is mounted.
		mkdir -p "$folder.tmp"
		bootstrap "$list" - <<<"$sources" >"$folder.tar"
		as_lab_root tar -C "$folder.tmp" --numeric-owner --exclude './dev/*' -xf "$folder.tar"
		rm "$folder.tar"
	fi
	wait_for_users
	remove_tree "$folder"
	mv "$folder.tmp" "$folder"
}

# Documentation is left out: the roots are for programs. Nor is every file synced
# to the disk on its own, what breaks is made anew.
bootstrap() {
	local list=$1 target=$2 option options=()
	while read -r option; do
		options+=(--aptopt="$option")
	done < <(mirror_apt_options)
	mmdebstrap --variant=minbase --skip=check/empty \
		--dpkgopt='force-unsafe-io' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/info/*' \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Languages "none"' \
		"${options[@]}" \
		--include="$(package_list "$list" | paste -sd,)" \
		"$SUITE" "$target" -
}
