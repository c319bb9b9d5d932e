#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration as a test.
IPERF_SECONDS=3 exec "$(dirname "$0")/demo.sh" --ktap
