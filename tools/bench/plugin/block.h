/* SPDX-License-Identifier: GPL-2.0 */
/* Translated blocks, each with its counters. */

#ifndef BLOCK_H
#define BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "api.h"

struct block {
	uint64_t address;
	uint64_t hash;
	uint32_t insns;
	uint32_t locked;
	uint32_t cipher;
	/* Bytes for each execution that a REP moves. */
	uint32_t unit;
	/* Where that REP is, zero without one; it always ends a block. */
	uint64_t rep;
	/* Its first counter. A block that begins with a REP has a second one, for the starts. */
	uint32_t slot;
	/* Whether it begins with a REP: it is executed again for each iteration. */
	uint32_t repeats;
};

void blocks_init(void);
void block_translated(struct qemu_plugin_tb *tb);
size_t blocks_count(void);
const struct block *block_at(size_t index);

/* The counters as they are, and how many there are. */
const uint64_t *counters(void);
size_t counters_used(void);

#endif
