// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>

#include "insn.h"

struct prefixes {
	size_t length;
	bool lock, rep, wide, narrow;
};

static struct prefixes prefixes(const struct insn *insn)
{
	struct prefixes p = { 0 };

	for (; p.length < insn->length; p.length++) {
		uint8_t byte = insn->bytes[p.length];

		if (byte == 0xf0)
			p.lock = true;
		else if (byte == 0xf2 || byte == 0xf3)
			p.rep = true;
		else if (byte == 0x66)
			p.narrow = true;
		else if ((byte & 0xf0) == 0x40)
			p.wide = byte & 8;
		else if (byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 &&
			 byte != 0x64 && byte != 0x65 && byte != 0x67)
			break;
	}
	return p;
}

/* movs, cmps, stos, lods, scas */
static bool is_string(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
}

/* aesenc and its kin are 0f 38 db..df, pclmulqdq and aeskeygenassist 0f 3a 44 and df. */
static bool is_cipher_opcode(unsigned int map, uint8_t opcode)
{
	return (map == 2 && opcode >= 0xdb && opcode <= 0xdf) ||
	       (map == 3 && (opcode == 0x44 || opcode == 0xdf));
}

static bool is_cipher(const struct insn *insn, size_t at)
{
	const uint8_t *b = insn->bytes + at;
	size_t left = insn->length - at;

	/* VEX with three bytes and EVEX carry the map in their first byte. */
	if (b[0] == 0xc4 && left > 3)
		return is_cipher_opcode(b[1] & 0x1f, b[3]);
	if (b[0] == 0x62 && left > 4)
		return is_cipher_opcode(b[1] & 0x07, b[4]);
	if (b[0] == 0x0f && left > 2)
		return is_cipher_opcode(b[1] == 0x38 ? 2 : b[1] == 0x3a ? 3 : 0, b[2]);
	return false;
}

/* xchg with memory locks without saying so. */
static bool is_xchg(const struct insn *insn, size_t at)
{
	return (insn->bytes[at] & 0xfe) == 0x86 && insn->length > at + 1 &&
	       insn->bytes[at + 1] < 0xc0;
}

void insn_classify(struct insn *insn)
{
	struct prefixes p = prefixes(insn);

	insn->class = INSN_PLAIN;
	if (p.length >= insn->length)
		return;
	if (p.rep && is_string(insn->bytes[p.length])) {
		insn->class = INSN_REP;
		insn->unit = !(insn->bytes[p.length] & 1) ? 1 : p.wide ? 8 : p.narrow ? 2 : 4;
	} else if (p.lock || is_xchg(insn, p.length)) {
		insn->class = INSN_LOCKED;
	} else if (is_cipher(insn, p.length)) {
		insn->class = INSN_CIPHER;
	}
}
