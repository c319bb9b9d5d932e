# shellcheck shell=bash disable=SC2153 # SUITE is in pins.sh
# SPDX-License-Identifier: GPL-2.0
# Where Debian comes from: the machine's own apt configuration knows, its
# proxies and passwords included. OVPN_MIRROR overrides it.

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The sources of the machine, Debian's or not, each once, in their order.
mirror_candidates() {
	if [ -n "${OVPN_MIRROR:-}" ]; then
		echo "${OVPN_MIRROR%/}"
		# Security updates have an archive of their own, beside the main one.
		echo "${OVPN_MIRROR%/}-security"
		return
	fi
	# shellcheck disable=SC2016 # a field of apt's, not of the shell's
	apt-get indextargets --format '$(SITE)' | sed 's,/*$,,' | awk '!seen[$0]++'
}

# mirror_serves SITE SUITE: asks the site itself, a name proves nothing.
mirror_serves() {
	local site=$1 suite=$2 file
	file=$(mktemp)
	/usr/lib/apt/apt-helper download-file "$site/dists/$suite/InRelease" "$file" >/dev/null 2>&1 || true
	grep -q '^Origin: Debian' "$file" && grep -q "^Codename: $suite\$" "$file"
	local rc=$?
	rm -f "$file"
	return "$rc"
}

# mirror_for SUITE: the first source that serves it, nothing when none does.
mirror_for() {
	local suite=$1 site
	while read -r site; do
		if mirror_serves "$site" "$suite"; then
			echo "$site"
			return
		fi
	done < <(mirror_candidates)
}

# The lines of sources.list for the roots.
mirror_sources() {
	local suite site
	for suite in "$SUITE" "$SUITE-updates" "$SUITE-security" "$SUITE-backports"; do
		site=$(mirror_for "$suite")
		if [ -n "$site" ]; then
			echo "deb [signed-by=$DEBIAN_KEYRING] $site $suite main"
		elif [ "$suite" = "$SUITE" ] || [ "$suite" = "$SUITE-backports" ]; then
			say "none of this machine's apt sources serves Debian's $suite; looked at:" \
				"$(mirror_candidates | tr '\n' ' ')(set OVPN_MIRROR to the address of one that does)"
			return 1
		fi
	done
}

# How apt reaches the archive, as options for the apt of the roots: proxies,
# certificates, retries, date checks, logins.
mirror_apt_options() {
	apt-config dump | grep -E '^Acquire::(https?|Retries|Check-Valid-Until|Check-Date|ForceIPv[46])(::[^ ]*)? "..*";$' || true
	echo 'Dir::Etc::netrc "/etc/apt/auth.conf";'
	echo 'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";'
}
