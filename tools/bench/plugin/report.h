/* SPDX-License-Identifier: GPL-2.0 */
/* The files that a run leaves in its folder. */

#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

/* Appends what was counted since contexts_start() to the file "counts". */
void report_counts(const char *label);
/* The guest names a file, then sends pieces of it. */
void report_open(const char *name);
void report_append(uint64_t address, uint64_t length);

#endif
