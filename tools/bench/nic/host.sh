# shellcheck shell=bash disable=SC2153,SC2154
# SPDX-License-Identifier: GPL-2.0
# Running something here or on the other host. A dry run prints it.

# What the other host gets: the tests' netlink client, the tunnel's keeper, our module.
REMOTE_FOLDER=/run/ovpn-nic

# here CMD..
here() {
	if [ -n "$DRY" ]; then
		printf 'here:   %s\n' "$*"
	else
		"$@"
	fi
}

# there CMD..
there() {
	if [ -n "$DRY" ]; then
		printf 'there:  %s\n' "$*"
	else
		remote "$@"
	fi
}

# remote CMD..: in any case. A namespace stands for a host when there is only one.
remote() {
	case $REMOTE in
	netns:*) ip netns exec "${REMOTE#netns:}" "$@" ;;
	*) ssh -o BatchMode=yes -o ConnectTimeout=5 "root@$REMOTE" "$(printf '%q ' "$@")" ;;
	esac
}

remote_is_namespace() {
	[ "${REMOTE#netns:}" != "$REMOTE" ]
}

remote_prepare() {
	local lib=$here/../testing/selftests/ovpn/lib
	[ -d "$lib" ] || lib=/ovpn/selftests/lib
	rm -rf "$REMOTE_FOLDER"
	mkdir -p "$REMOTE_FOLDER"
	cp "$lib"/*.py "$here/nic/tunnel.py" "$REMOTE_FOLDER/"
	[ ! -e "$OURS" ] || cp "$OURS" "$REMOTE_FOLDER/ovpn.ko"
	remote_is_namespace ||
		tar -C "$REMOTE_FOLDER" -cf - . | remote sh -c "mkdir -p $REMOTE_FOLDER && tar -C $REMOTE_FOLDER -xf -" ||
		echo "missing: cannot reach $REMOTE by ssh as root, without a password"
}

remote_clean() {
	rm -rf "$REMOTE_FOLDER"
	remote_is_namespace || remote rm -rf "$REMOTE_FOLDER" || true
}
