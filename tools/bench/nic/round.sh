# shellcheck shell=bash disable=SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
# Rounds: both modules in each, so that what drifts meets both.

rounds_run() {
	local round which number
	COUNTERS=$(counters_work)
	[ -n "$DRY" ] || printf 'round\tmodule\tflows\tbytes\tseconds\tretransmits\ttx_cycles\ttx_insns\trx_cycles\trx_insns\n' >"$OUT"
	for ((round = 1; round <= ROUNDS; round++)); do
		for which in $(round_order "$round"); do
			[ -n "$DRY" ] || echo "round $round of $ROUNDS: $which" >&2
			module_use "$which"
			tunnel_start
			for number in $FLOWS; do
				flow "$number"
				[ -n "$DRY" ] || round_write "$round" "$which" "$number" >>"$OUT"
			done
			tunnel_stop
		done
		# One round says it all.
		[ -z "$DRY" ] || break
	done
}

# Who is first takes turns.
round_order() {
	if [ $(($1 % 2)) -eq 1 ]; then
		echo ours c
	else
		echo c ours
	fi
}

counters_work() {
	if perf stat -x, -e cycles,instructions true 2>&1 | grep -qE '^[0-9]+,' &&
		remote perf stat -x, -e cycles,instructions true 2>&1 | grep -qE '^[0-9]+,'; then
		echo yes
	else
		echo no
	fi
}

round_write() {
	local line
	line=$(python3 - "$REMOTE_FOLDER/iperf.json" <<-'PYTHON'
	import json
	import sys

	end = json.load(open(sys.argv[1], encoding="utf-8"))["end"]
	sent = end["sum_sent"]
	print(end["sum_received"]["bytes"], f"{end['sum_received']['seconds']:.3f}", sent.get("retransmits", 0), sep="\t")
	PYTHON
	)
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$line" "$(round_counts here perf-here)" "$(round_counts there perf)"
}

# round_counts RUN FILE: cycles and instructions, or two dashes.
round_counts() {
	if [ "$COUNTERS" = yes ]; then
		"$1" cat "$REMOTE_FOLDER/$2" | awk -F, '$3 ~ /^cycles/ { c = $1 } $3 ~ /^instructions/ { i = $1 } END { print c "\t" i }'
	else
		printf -- '-\t-'
	fi
}
