/* SPDX-License-Identifier: GPL-2.0 */
/* What an instruction is, from its bytes. */

#ifndef INSN_H
#define INSN_H

#include <stddef.h>
#include <stdint.h>

#define INSN_MAX 15

enum insn_class {
	INSN_PLAIN,
	INSN_LOCKED,
	INSN_CIPHER,
	INSN_REP,
};

struct insn {
	uint8_t bytes[INSN_MAX];
	size_t length;
	enum insn_class class;
	/* Of a REP: the bytes that one iteration moves. */
	unsigned int unit;
};

void insn_classify(struct insn *insn);

#endif
