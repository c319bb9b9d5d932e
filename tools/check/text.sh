# shellcheck shell=bash disable=SC2154 # tree and out are in check
# SPDX-License-Identifier: GPL-2.0
# Scripts and C.

check_shellcheck() {
	local files
	mapfile -t files < <(shell_files)
	shellcheck --external-sources "${files[@]}"
}

check_checkpatch() {
	local files
	mapfile -t files < <(project_files '*.c' '*.h')
	[ "${#files[@]}" -gt 0 ] || return 0
	# FILE_PATH_CHANGES is about the kernel's MAINTAINERS, which we are not in.
	"$tree/scripts/checkpatch.pl" --no-tree --strict --terse --show-types --no-summary --quiet \
		--ignore FILE_PATH_CHANGES -f "${files[@]}"
}

check_python() {
	local files
	mapfile -t files < <(python_files)
	python3 -B - "${files[@]}" <<-'PYTHON'
	import ast
	import sys

	bad = 0
	for name in sys.argv[1:]:
	    try:
	        ast.parse(open(name, encoding="utf-8").read(), name)
	    except SyntaxError as error:
	        print(f"{name}:{error.lineno}: {error.msg}")
	        bad = 1
	sys.exit(bad)
	PYTHON
}
