// SPDX-License-Identifier: GPL-2.0
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <netinet/in.h>

#include "flow.h"

#define BACKLOG 256

static int listener;

static void *block(void)
{
	void *memory = mmap(NULL, BLOCK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		die("memory to send from");
	return memory;
}

void tcp_listen(struct flow *f)
{
	int on = 1;

	listener = new_socket(f, SOCK_STREAM);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (void *)&f->peer, f->peer_length) || listen(listener, BACKLOG))
		die("listening");
}

static void receive_bytes(int fd, void *buffer, uint64_t bytes)
{
	while (bytes) {
		ssize_t got = read(fd, buffer, bytes < BLOCK_SIZE ? bytes : BLOCK_SIZE);

		if (got <= 0)
			die("receiving");
		bytes -= got;
	}
}

void tcp_receive(struct flow *f, unsigned int index)
{
	int fd = accept(listener, NULL, NULL);
	void *buffer = block();

	if (fd < 0)
		die("accepting");
	receive_bytes(fd, buffer, f->warmup);
	say_done(f);
	receive_bytes(fd, buffer, f->amount);
	say_done(f);
	/* Until the sender closes. */
	if (read(fd, buffer, 1) != 0)
		fprintf(stderr, "flow: more arrived than was sent\n");
}

static void send_bytes(int fd, const void *buffer, uint64_t bytes)
{
	while (bytes) {
		ssize_t sent = write(fd, buffer, bytes < BLOCK_SIZE ? bytes : BLOCK_SIZE);

		if (sent <= 0)
			die("sending");
		bytes -= sent;
	}
}

static struct tcp_info how_it_goes(int fd)
{
	struct tcp_info info;
	socklen_t length = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		die("asking TCP how it went");
	return info;
}

/* A run with losses is not comparable, so it says what it had. */
static void tell(const struct tcp_info *before, const struct tcp_info *after)
{
	unsigned int lost = after->tcpi_total_retrans - before->tcpi_total_retrans;

	printf("tcp retransmits %u mss %u\n", lost, after->tcpi_snd_mss);
	fflush(stdout);
}

void tcp_send(struct flow *f, unsigned int index)
{
	int fd = new_socket(f, SOCK_STREAM);
	void *buffer = block();
	struct tcp_info before, after;

	if (connect(fd, (void *)&f->peer, f->peer_length))
		die("connecting");
	wait_for(f, PHASE_WARMUP);
	send_bytes(fd, buffer, f->warmup);
	wait_for(f, PHASE_MEASURED);
	before = how_it_goes(fd);
	send_bytes(fd, buffer, f->amount);
	wait_for(f, PHASE_END);
	after = how_it_goes(fd);
	tell(&before, &after);
	close(fd);
}
