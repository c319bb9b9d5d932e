// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the guest's instructions between marks, by block and by context. What a
 * block is and how it counts is in block.c, whose work it is in context.c.
 */
#include <stdbool.h>
#include <string.h>

#include "../guest/mark.h"
#include "api.h"
#include "block.h"
#include "context.h"
#include "guest.h"
#include "insn.h"
#include "options.h"
#include "report.h"

#define TEXT_MAX 64
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

EXPORT int qemu_plugin_version = PLUGIN_API;

/* nopl disp32(%rax,%rax,1), see mark.h */
static const uint8_t mark_opcode[] = { 0x0f, 0x1f, 0x84, 0x00 };

static void text_argument(char *to)
{
	uint64_t length = guest_register(RSI);

	if (length >= TEXT_MAX)
		length = TEXT_MAX - 1;
	guest_text(guest_register(RDI), to, length + 1);
}

static void on_start(unsigned int vcpu, void *userdata)
{
	contexts_start();
}

static void on_stop(unsigned int vcpu, void *userdata)
{
	char label[TEXT_MAX];

	contexts_stop();
	text_argument(label);
	report_counts(label);
}

static void on_open(unsigned int vcpu, void *userdata)
{
	char name[TEXT_MAX];

	text_argument(name);
	report_open(name);
}

static void on_piece(unsigned int vcpu, void *userdata)
{
	report_append(guest_register(RDI), guest_register(RSI));
}

static void on_switch(unsigned int vcpu, void *userdata)
{
	context_task(guest_register(RSI));
}

static void on_napi(unsigned int vcpu, void *userdata)
{
	context_napi(guest_register(RDI));
}

static void on_work(unsigned int vcpu, void *userdata)
{
	context_work(guest_register(RSI));
}

static void on_leave(unsigned int vcpu, void *userdata)
{
	context_leave();
}

static void hook(struct qemu_plugin_insn *insn, void (*cb)(unsigned int vcpu, void *userdata))
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_R_REGS, NULL);
}

static void hook_mark(struct qemu_plugin_insn *insn, const uint8_t *bytes)
{
	static void (*const on[])(unsigned int vcpu, void *userdata) = {
		[MARK_START] = on_start,
		[MARK_STOP] = on_stop,
		[MARK_OPEN] = on_open,
		[MARK_PIECE] = on_piece,
	};
	uint32_t number;

	memcpy(&number, bytes + 4, sizeof(number));
	number -= MARK_BASE;
	if (number < ARRAY_SIZE(on))
		hook(insn, on[number]);
}

static bool is_return(const uint8_t *bytes, size_t length)
{
	return bytes[0] == 0xc3 || (length > 1 && bytes[0] == 0xf3 && bytes[1] == 0xc3);
}

static bool within(uint64_t address, const struct range *range)
{
	return address >= range->from && address < range->to;
}

static void hook_kernel(struct qemu_plugin_insn *insn, uint64_t address, const uint8_t *bytes,
			size_t length)
{
	if (address == options.switch_to.from)
		hook(insn, on_switch);
	else if (address == options.napi_poll.from)
		hook(insn, on_napi);
	else if (address == options.work.from)
		hook(insn, on_work);
	else if (is_return(bytes, length) &&
		 (within(address, &options.napi_poll) || within(address, &options.work)))
		hook(insn, on_leave);
}

static void translated(struct qemu_plugin_tb *tb)
{
	block_translated(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		uint8_t bytes[INSN_MAX] = { 0 };
		size_t length = qemu_plugin_insn_data(insn, bytes, INSN_MAX);

		if (address >> 63)
			hook_kernel(insn, address, bytes, length);
		else if (length == 8 && !memcmp(bytes, mark_opcode, sizeof(mark_opcode)))
			hook_mark(insn, bytes);
	}
}

#if PLUGIN_API >= 7
static void on_translation(struct qemu_plugin_tb *tb, void *userdata)
{
	translated(tb);
}
#else
static void on_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
	translated(tb);
}
#endif

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	if (!options_parse(argc, argv))
		return 1;
	blocks_init();
#if PLUGIN_API >= 7
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
#else
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
#endif
	return 0;
}
