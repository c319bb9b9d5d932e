// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "guest.h"

static const char *const names[GUEST_REGISTERS] = { "rdi", "rsi" };
static struct qemu_plugin_register *handles[GUEST_REGISTERS];
static struct byte_array *scratch;

/* QEMU tells the registers only to a callback that runs on the CPU. */
static void find_registers(void)
{
	struct any_array *all = qemu_plugin_get_registers();
	/* Newer versions say more of each register behind what is known here. */
	unsigned int size = g_array_get_element_size(all);

	for (unsigned int i = 0; i < all->len; i++) {
		const struct register_descriptor *one = (void *)(all->data + i * size);

		for (int j = 0; j < GUEST_REGISTERS; j++)
			if (!strcmp(one->name, names[j]))
				handles[j] = one->handle;
	}
	for (int j = 0; j < GUEST_REGISTERS; j++)
		if (!handles[j]) {
			fprintf(stderr, "plugin: QEMU knows no register %s\n", names[j]);
			exit(1);
		}
	scratch = g_byte_array_new();
}

uint64_t guest_register(enum guest_register which)
{
	uint64_t value = 0;

	if (!scratch)
		find_registers();
	g_byte_array_set_size(scratch, 0);
	/* What it returns changed between versions, what it leaves did not. */
	qemu_plugin_read_register(handles[which], scratch);
	if (scratch->len == sizeof(value))
		memcpy(&value, scratch->data, sizeof(value));
	return value;
}

bool guest_read(uint64_t address, void *to, size_t length)
{
	if (!scratch)
		find_registers();
	if (!qemu_plugin_read_memory_vaddr(address, scratch, length))
		return false;
	memcpy(to, scratch->data, length);
	return true;
}

/* Zero also stands for what cannot be read. */
uint64_t guest_pointer(uint64_t address)
{
	uint64_t value;

	return guest_read(address, &value, sizeof(value)) ? value : 0;
}

/* @to is always terminated, and holds nothing that would break a line. */
void guest_text(uint64_t address, char *to, size_t length)
{
	if (!guest_read(address, to, length - 1))
		to[0] = '\0';
	to[length - 1] = '\0';
	for (char *c = to; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '_';
}
