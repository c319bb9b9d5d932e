# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Rules of the house: licence lines, no unsafe code in the driver, short files.

LINES_WARN=300
LINES_MAX=400

check_spdx() {
	local file bad=0
	while read -r file; do
		case $file in
		# No comments possible, or none of our words.
		*.lock | *.json | *.png | LICENSES/* | COPYING | tools/testing/host/fuzz/corpus/*) continue ;;
		esac
		if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier:'; then
			case $file in *.md) continue ;; esac
			echo "$file: no SPDX line among its first three"
			bad=1
		fi
	done < <(project_files)
	return "$bad"
}

# The one line that may say it is the one that forbids it.
check_unsafe() {
	! grep -rn unsafe drivers --include='*.rs' | grep -vE ':#!\[forbid\(unsafe_code\)\]$' &&
		grep -rlq '^#!\[forbid(unsafe_code)\]$' drivers/ovpn/ovpn.rs
}

check_length() {
	local file lines bad=0
	while read -r file; do
		case $file in *.lock | *.md | *.json | *.svg | tools/testing/host/*) continue ;; esac
		lines=$(wc -l <"$file")
		if [ "$lines" -gt "$LINES_MAX" ]; then
			echo "$file: $lines lines, $LINES_MAX at most"
			bad=1
		elif [ "$lines" -gt "$LINES_WARN" ]; then
			echo "$file: $lines lines, it is getting long"
		fi
	done < <(project_files)
	return "$bad"
}
