/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks: a no-operation that says something to the plugin and nothing to anybody
 * else. Its number is the displacement of nopl disp32(%rax,%rax,1), the arguments
 * are in RDI and RSI.
 */

#ifndef MARK_H
#define MARK_H

#include <stddef.h>
#include <sys/cdefs.h>

#define MARK_BASE 0x4f56504e

enum mark {
	/* Counting begins. */
	MARK_START,
	/* Counting ends; a text and its length name what was counted. */
	MARK_STOP,
	/* A file for the host follows; its name and the name's length. */
	MARK_OPEN,
	/* A piece of it; address and length. */
	MARK_PIECE,
};

/* The kind becomes part of the instruction, so it has to be a constant. */
static __always_inline void mark(const unsigned int kind, const void *from, size_t length)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"
		     :
		     : "i"(MARK_BASE + kind), "D"(from), "S"(length)
		     : "memory");
}

#endif
