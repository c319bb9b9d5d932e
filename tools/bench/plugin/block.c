// SPDX-License-Identifier: GPL-2.0
/*
 * One counter per block of kernel code, added to inline, so that counting costs a
 * few host instructions. User space is one block, and one more for its ciphers:
 * there the same addresses mean another program each time.
 *
 * An emulated REP runs its block again for each iteration. A real CPU counts one
 * instruction, so the iterations are told from the starts: every other block stores
 * which REP it leads into, none as a rule, and a callback that runs only when that
 * is another one counts the start.
 */
#include <stdio.h>
#include <stdlib.h>

#include "block.h"
#include "insn.h"

#define BLOCKS_MAX 262144
#define TABLE_SIZE 524288
#define SLOTS 262144

enum { BLOCK_USER, BLOCK_USER_CIPHER, BLOCK_OVERFLOW, BLOCKS_FIXED };

static struct block blocks[BLOCKS_MAX];
static uint32_t table[TABLE_SIZE];
static size_t block_count;
static size_t slot_count;
static struct qemu_plugin_scoreboard *slots;
static struct qemu_plugin_scoreboard *under_way;

static struct counter slot(size_t index)
{
	return (struct counter){ slots, index * sizeof(uint64_t) };
}

void blocks_init(void)
{
	slots = qemu_plugin_scoreboard_new(SLOTS * sizeof(uint64_t));
	under_way = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	for (; block_count < BLOCKS_FIXED; block_count++)
		blocks[block_count] = (struct block){ .address = block_count,
						      .insns = 1,
						      .slot = slot_count++ };
}

size_t blocks_count(void)
{
	return block_count;
}

const struct block *block_at(size_t index)
{
	return &blocks[index];
}

const uint64_t *counters(void)
{
	return qemu_plugin_scoreboard_find(slots, 0);
}

size_t counters_used(void)
{
	return slot_count;
}

static struct block describe(struct qemu_plugin_tb *tb)
{
	struct block b = {
		.address = qemu_plugin_tb_vaddr(tb),
		.insns = qemu_plugin_tb_n_insns(tb),
		.hash = 14695981039346656037ull,
	};

	for (size_t i = 0; i < b.insns; i++) {
		struct qemu_plugin_insn *from = qemu_plugin_tb_get_insn(tb, i);
		struct insn insn = { .length = qemu_plugin_insn_size(from) };

		insn.length = qemu_plugin_insn_data(from, insn.bytes, INSN_MAX);
		insn_classify(&insn);
		b.locked += insn.class == INSN_LOCKED;
		b.cipher += insn.class == INSN_CIPHER;
		if (insn.class == INSN_REP) {
			b.unit = insn.unit;
			b.rep = qemu_plugin_insn_vaddr(from);
			b.repeats |= i == 0;
		}
		for (size_t j = 0; j < insn.length; j++)
			b.hash = (b.hash ^ insn.bytes[j]) * 1099511628211ull;
	}
	b.hash = (b.hash ^ b.address) * 1099511628211ull;
	return b;
}

/* The same code may be translated more than once, its counter stays. */
static struct block *remember(const struct block *found)
{
	uint32_t at = (found->hash ^ found->hash >> 32) % TABLE_SIZE;

	for (; table[at]; at = (at + 1) % TABLE_SIZE) {
		struct block *known = &blocks[table[at]];

		if (known->hash == found->hash && known->address == found->address &&
		    known->insns == found->insns)
			return known;
	}
	if (block_count == BLOCKS_MAX || slot_count + 2 > SLOTS) {
		fprintf(stderr, "plugin: more than %d blocks, the counts are wrong\n", SLOTS);
		exit(1);
	}
	table[at] = block_count;
	blocks[block_count] = *found;
	blocks[block_count].slot = slot_count;
	slot_count += found->repeats ? 2 : 1;
	return &blocks[block_count++];
}

static void rep_starts(unsigned int vcpu, void *userdata)
{
	struct block *block = userdata;
	uint64_t *running = qemu_plugin_scoreboard_find(under_way, vcpu);
	uint64_t *all = qemu_plugin_scoreboard_find(slots, vcpu);

	*running = block->address;
	all[block->slot + 1]++;
}

static void count_user(struct qemu_plugin_tb *tb, const struct block *found)
{
	uint32_t which = found->cipher ? BLOCK_USER_CIPHER : BLOCK_USER;

	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_ADD, slot(blocks[which].slot),
							  found->repeats ? 0 : found->insns);
}

static void count_kernel(struct qemu_plugin_tb *tb, struct block *block)
{
	struct counter running = { under_way, 0 };

	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_ADD, slot(block->slot), 1);
	if (block->repeats)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, rep_starts, CB_NO_REGS, COND_NE,
							  running, block->address, block);
	else
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_STORE, running,
								  block->rep);
}

void block_translated(struct qemu_plugin_tb *tb)
{
	struct block found = describe(tb);

	if (found.address >> 63)
		count_kernel(tb, remember(&found));
	else
		count_user(tb, &found);
}
