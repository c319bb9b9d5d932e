#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration as a test, over TCP.
PROTO=tcp4 IPERF_SECONDS=3 exec "$(dirname "$0")/demo.sh" --ktap
