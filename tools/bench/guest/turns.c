// SPDX-License-Identifier: GPL-2.0
/*
 * One packet at a time: the next one goes when the answer to the last has come. On one CPU, on
 * which nothing overlaps, what a turn takes is how long it lasts.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "flow.h"

static char buffer[PACKET_MAX];

static void answer(const struct flow *f, int fd, uint64_t turns)
{
	struct sockaddr_storage from;

	for (; turns; turns--) {
		socklen_t length = sizeof(from);
		ssize_t size = recvfrom(fd, buffer, sizeof(buffer), 0, (void *)&from, &length);

		if (size < 0 || sendto(fd, buffer, size, 0, (void *)&from, length) != size)
			die("answering");
	}
	say_done(f);
}

void turns_receive(struct flow *f, unsigned int index)
{
	answer(f, udp_listener, f->warmup);
	answer(f, udp_listener, f->amount);
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
	int fd = new_socket(f, SOCK_DGRAM);

	if (connect(fd, (void *)&f->peer, f->peer_length))
		die("connecting");
	wait_for(f, PHASE_WARMUP);
	ask(fd, f->size, f->warmup);
	wait_for(f, PHASE_MEASURED);
	ask(fd, f->size, f->amount);
	wait_for(f, PHASE_END);
}
