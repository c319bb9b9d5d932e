# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A throw-away certificate authority: elliptic curve keys, valid for a day.

PKI=$WORK/pki

pki_up() {
	mkdir -p "$PKI"
	_pki_issue ca "/CN=ovpn test CA" \
		-addext basicConstraints=critical,CA:TRUE \
		-addext keyUsage=critical,keyCertSign,cRLSign
	pki_member server serverAuth
	pki_member client clientAuth
}

# pki_member NAME serverAuth|clientAuth: a key and certificate signed by the CA.
pki_member() {
	_pki_issue "$1" "/CN=$1" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" \
		-addext basicConstraints=critical,CA:FALSE \
		-addext keyUsage=critical,digitalSignature \
		-addext "extendedKeyUsage=$2"
}

# _pki_issue NAME SUBJECT OPTION..
_pki_issue() {
	local name=$1 subject=$2
	shift 2
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 \
		-subj "$subject" -keyout "$PKI/$name.key" -out "$PKI/$name.crt" "$@" \
		2>"$PKI/openssl.out" || {
		cat "$PKI/openssl.out" >&2
		return 1
	}
}
