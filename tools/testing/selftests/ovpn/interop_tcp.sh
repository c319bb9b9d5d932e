#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ours and openvpn's own data channel, over TCP.
PROTOS="tcp4 tcp6" exec "$(dirname "$0")/interop.sh"
