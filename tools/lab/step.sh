# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A step of the set-up: made once, remade when its recipe changes, never left
# half done.

# take_lock NAME: two set-ups at once would step on each other; the second one
# waits.
take_lock() {
	mkdir -p "$LAB/log" "$LAB/stamp"
	exec {lock_fd}>"$LAB/$1"
	if ! flock -n "$lock_fd"; then
		say "another set-up is at work in $LAB, waiting for it"
		flock "$lock_fd"
	fi
}

drop_lock() {
	exec {lock_fd}>&-
}

# What is about to be replaced may be in use by a build or a VM (see lab_run);
# they finish first.
wait_for_users() {
	(
		exec {use_fd}>"$LAB/use"
		if ! flock -n "$use_fd"; then
			say "waiting until nothing runs in the lab any more"
			flock "$use_fd"
		fi
	)
}

# The recipe of a step: the text of its functions and of what it depends on.
# A comment or a blank line does not change it, 'declare -f' drops them.
recipe() {
	local functions=$1
	shift
	# shellcheck disable=SC2086 # a list of names
	{ declare -f $functions; printf '%s\n' "$@"; } | sha256sum | cut -d' ' -f1
}

stamp_matches() {
	local name=$1 key=$2
	[ -e "$LAB/stamp/$name" ] && [ "$(<"$LAB/stamp/$name")" = "$key" ]
}

# run_step NAME KEY TEXT FUNCTION: the output goes to a log, the elapsed time to
# the person who waits.
run_step() {
	local name=$1 key=$2 text=$3 function=$4
	local log=$LAB/log/$name.log start=$SECONDS rc=0 ticker
	if stamp_matches "$name" "$key"; then
		return
	fi
	rm -f "$LAB/stamp/$name"
	say "$name: $text"
	tick "$name" "$log" {lock_fd}>&- &
	ticker=$!
	# A subshell with -e of its own: 'f || rc=$?' alone would switch -e off. It keeps
	# the lock: should it outlive a set-up that was killed, the next one waits.
	set +e
	(set -e; "$function") >"$log" 2>&1
	rc=$?
	set -e
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	if [ "$rc" -ne 0 ]; then
		tail -n 25 "$log" >&2
		die "$name failed after $((SECONDS - start)) s; the whole log is $log"
	fi
	printf '%s\n' "$key" >"$LAB/stamp/$name"
	say "$name: done in $((SECONDS - start)) s"
}

tick() {
	local name=$1 log=$2 waited=0
	# Ends with the set-up, also when that one is killed.
	while sleep 20 && kill -0 $$ 2>/dev/null; do
		waited=$((waited + 20))
		say "$name: $waited s, at: $(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c -80)"
	done
}
