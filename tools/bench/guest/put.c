// SPDX-License-Identifier: GPL-2.0
/*
 * put NAME <FILE: hands a file to the host, through the plugin. A serial line would
 * take minutes, and a disk would change what is measured.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mark.h"

static char piece[1 << 16];

int main(int argc, char **argv)
{
	ssize_t got;

	if (argc != 2) {
		fprintf(stderr, "usage: put NAME <FILE\n");
		return 2;
	}
	mark(MARK_OPEN, argv[1], strlen(argv[1]));
	/* Read into it first: the plugin sees only memory that is there. */
	while ((got = read(STDIN_FILENO, piece, sizeof(piece))) > 0)
		mark(MARK_PIECE, piece, got);
	mark(MARK_OPEN, "", 0);
	return got < 0;
}
