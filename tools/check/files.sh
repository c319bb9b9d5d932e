# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Which files are ours: what git knows or would add, so nothing that was built.

project_files() {
	git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# Rust files of the module; the host tests have cargo's own tools.
module_rust_files() {
	project_files 'rust/*.rs' 'drivers/*.rs'
}

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
