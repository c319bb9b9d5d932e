// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "context.h"
#include "guest.h"
#include "options.h"
#include "report.h"

#define PIECE 4096

static FILE *file;

static FILE *open_in_folder(const char *name, const char *mode)
{
	char path[512];
	FILE *opened;

	snprintf(path, sizeof(path), "%s/%s", options.out, name);
	opened = fopen(path, mode);
	if (!opened) {
		fprintf(stderr, "plugin: cannot write %s\n", path);
		exit(1);
	}
	return opened;
}

static void write_context(FILE *to, size_t index)
{
	const uint64_t *counts = context_counts(index);

	if (!counts)
		return;
	fprintf(to, "context %s\n", context_name(index));
	for (size_t i = 0; i < blocks_count(); i++) {
		const struct block *b = block_at(i);

		if (counts[b->slot])
			fprintf(to, "%lx %lu %lu %u %u %u %u\n", b->address, counts[b->slot],
				b->repeats ? counts[b->slot + 1] : counts[b->slot], b->insns,
				b->locked, b->cipher, b->unit);
	}
}

void report_counts(const char *label)
{
	FILE *to = open_in_folder("counts", "a");

	fprintf(to, "measure %s\n", label);
	for (size_t i = 0; i < contexts_count(); i++)
		write_context(to, i);
	fprintf(to, "end\n");
	fclose(to);
}

void report_open(const char *name)
{
	if (file)
		fclose(file);
	file = *name && !strchr(name, '/') ? open_in_folder(name, "w") : NULL;
}

void report_append(uint64_t address, uint64_t length)
{
	char piece[PIECE];

	while (file && length) {
		uint64_t part = length < PIECE ? length : PIECE;

		if (!guest_read(address, piece, part)) {
			fprintf(stderr, "plugin: the guest's memory at %lx is not there\n",
				address);
			exit(1);
		}
		fwrite(piece, 1, part, file);
		address += part;
		length -= part;
	}
	if (file)
		fflush(file);
}
