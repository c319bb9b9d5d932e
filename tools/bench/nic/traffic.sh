# shellcheck shell=bash disable=SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
# The tunnel, and what runs through it.

TUNNEL_INNER=10.99.0.2
TUNNEL_WAIT=15
TUNNEL_JOBS=()

# Each end is kept by a process that waits for the end of its input.
tunnel_start() {
	if [ -n "$DRY" ]; then
		there python3 -B "$REMOTE_FOLDER/tunnel.py" 1 "$REMOTE_ADDRESS" "$ADDRESS" "$CIPHER" '(stays)'
		here python3 -B "$REMOTE_FOLDER/tunnel.py" 0 "$ADDRESS" "$REMOTE_ADDRESS" "$CIPHER" '(stays)'
		return
	fi
	tunnel_keep there remote python3 -B "$REMOTE_FOLDER/tunnel.py" 1 "$REMOTE_ADDRESS" "$ADDRESS" "$CIPHER"
	tunnel_keep here python3 -B "$REMOTE_FOLDER/tunnel.py" 0 "$ADDRESS" "$REMOTE_ADDRESS" "$CIPHER"
}

# tunnel_keep NAME CMD..: CMD runs until its input is closed.
tunnel_keep() {
	local pipe=$REMOTE_FOLDER/$1.in said=$REMOTE_FOLDER/$1.out end=$((SECONDS + TUNNEL_WAIT)) fd
	shift
	rm -f "$pipe"
	mkfifo "$pipe"
	"$@" <"$pipe" >"$said" &
	exec {fd}>"$pipe"
	TUNNEL_JOBS+=("$fd")
	until grep -q ready "$said"; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "nic.sh: the tunnel does not come up: $*" >&2
			exit 1
		fi
		sleep 0.2
	done
}

tunnel_stop() {
	local fd
	for fd in "${TUNNEL_JOBS[@]}"; do
		eval "exec $fd>&-"
	done
	TUNNEL_JOBS=()
	wait
}

server_start() {
	there sh -c 'iperf3 --server --one-off --daemon >/dev/null'
	# It listens after it has said nothing.
	[ -n "$DRY" ] || sleep 1
}

# counted RUN FILE CMD..: CMD with the whole host's cycles and instructions in FILE.
counted() {
	local run=$1 file=$2
	shift 2
	"$run" perf stat --all-cpus -x, -e cycles,instructions --output "$file" -- "$@"
}

# flow NUMBER: TCP through the tunnel; both hosts are counted meanwhile.
flow() {
	local number=$1 there_pid=''
	server_start
	if [ -n "$DRY" ]; then
		counted there "$REMOTE_FOLDER/perf" sleep "$LASTS"
		counted here "$REMOTE_FOLDER/perf-here" iperf3 --client "$TUNNEL_INNER" --time "$LASTS" --parallel "$number" --json
		return
	fi
	if [ "$COUNTERS" = yes ]; then
		counted there "$REMOTE_FOLDER/perf" sleep "$LASTS" &
		there_pid=$!
		counted here "$REMOTE_FOLDER/perf-here" \
			iperf3 --client "$TUNNEL_INNER" --time "$LASTS" --parallel "$number" --json >"$REMOTE_FOLDER/iperf.json"
		wait "$there_pid"
	else
		iperf3 --client "$TUNNEL_INNER" --time "$LASTS" --parallel "$number" --json >"$REMOTE_FOLDER/iperf.json"
	fi
}
