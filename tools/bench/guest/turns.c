// SPDX-License-Identifier: GPL-2.0
/*
 * One packet at a time: the next one goes when the answer to the last has come. On one CPU, on
 * which nothing overlaps, what a turn takes is how long it lasts.
 */
#include <sys/socket.h>

#include "flow.h"

static char buffer[PACKET_MAX];

static void answer(int fd, uint64_t turns)
{
	struct sockaddr_storage from;

	for (; turns; turns--) {
		socklen_t length = sizeof(from);
		ssize_t size = recvfrom(fd, buffer, sizeof(buffer), 0, (void *)&from, &length);

		if (size < 0 || sendto(fd, buffer, size, 0, (void *)&from, length) != size)
			die("answering");
	}
}

void turns_receive(struct flow *f, unsigned int index)
{
	udp_serve(f, answer);
}

static void ask(int fd, unsigned int size, uint64_t turns)
{
	for (; turns; turns--)
		if (send(fd, buffer, size, 0) != (ssize_t)size ||
		    recv(fd, buffer, sizeof(buffer), 0) != (ssize_t)size)
			die("asking");
}

void turns_send(struct flow *f, unsigned int index)
{
	udp_call(f, ask);
}
