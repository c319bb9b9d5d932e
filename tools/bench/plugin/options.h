/* SPDX-License-Identifier: GPL-2.0 */
/* What the command line says: where the hooks and the names are in this kernel. */

#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A function of the guest, from its first byte to that of the next one. */
struct range {
	uint64_t from, to;
};

struct options {
	/* The folder for what is measured and what the guest hands out. */
	const char *out;
	/* __switch_to_asm, __napi_poll, process_one_work; zero leaves one out. */
	struct range switch_to, napi_poll, work;
	/* Offsets of task_struct.comm, napi_struct.dev, net_device.name, work_struct.func. */
	uint64_t comm, dev, name, func;
};

extern struct options options;

bool options_parse(int argc, char **argv);

#endif
