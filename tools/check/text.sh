# shellcheck shell=bash disable=SC2154 # tree and out are in check
# SPDX-License-Identifier: GPL-2.0
# Scripts and C.

check_shellcheck() {
	local files
	mapfile -t files < <(shell_files)
	shellcheck --external-sources "${files[@]}"
}

# What only the kernel has, programs cannot prefer.
KERNEL_ONLY=ARRAY_SIZE,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE

check_checkpatch() {
	local module programs bad=0
	mapfile -t module < <(project_files 'include/*.h' 'rust/*.[ch]' 'drivers/*.[ch]')
	mapfile -t programs < <(project_files 'tools/*.[ch]')
	checkpatch FILE_PATH_CHANGES "${module[@]}" || bad=1
	checkpatch "FILE_PATH_CHANGES,$KERNEL_ONLY" "${programs[@]}" || bad=1
	return "$bad"
}

# checkpatch IGNORED FILE..: FILE_PATH_CHANGES is always ignored, it is about the
# kernel's MAINTAINERS, which we are not in.
checkpatch() {
	local ignored=$1
	shift
	[ $# -gt 0 ] || return 0
	# From elsewhere, since it leaves a cache of names where it runs.
	(
		set -- "${@/#/$PWD/}"
		cd "$out" && "$tree/scripts/checkpatch.pl" --root="$tree" --strict --terse --show-types \
			--no-summary --quiet --ignore "$ignored" -f "$@"
	)
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
