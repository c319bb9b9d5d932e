# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# The versions the lab is made of: the one place to change them.

SUITE=trixie
KERNEL_SERIES=7.3
# Taken when the archive has it, else the newest version of the series.
KERNEL_PIN='7.3.4-1~bpo13+1'
KERNEL_FLAVOUR=amd64
