#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration as a test.
exec "$(dirname "$0")/demo.sh" --ktap
