// SPDX-License-Identifier: GPL-2.0
/*
 * Each packet in a system call of its own. The receiver's buffer holds a whole phase,
 * so nothing is lost however the two tasks take turns.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"

#define BUFFER (256 * 1024 * 1024)

static int listener;

void udp_listen(struct flow *f)
{
	int size = BUFFER;

	if (f->flows > 1 || f->size > PACKET_MAX) {
		fprintf(stderr, "flow: UDP has one flow and packets up to %u bytes\n", PACKET_MAX);
		_exit(2);
	}
	listener = new_socket(f, SOCK_DGRAM);
	if (setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("a large receive buffer");
	if (bind(listener, (void *)&f->peer, f->peer_length))
		die("binding");
}

void udp_serve(struct flow *f, void (*part)(int fd, uint64_t packets))
{
	part(listener, f->warmup);
	say_done(f);
	part(listener, f->amount);
	say_done(f);
}

static void receive_packets(int fd, uint64_t packets)
{
	char buffer[PACKET_MAX];

	for (; packets; packets--)
		if (recv(fd, buffer, sizeof(buffer), 0) < 0)
			die("receiving");
}

void udp_receive(struct flow *f, unsigned int index)
{
	udp_serve(f, receive_packets);
}

void udp_call(struct flow *f, void (*part)(int fd, unsigned int size, uint64_t packets))
{
	int fd = new_socket(f, SOCK_DGRAM);

	if (connect(fd, (void *)&f->peer, f->peer_length))
		die("connecting");
	wait_for(f, PHASE_WARMUP);
	part(fd, f->size, f->warmup);
	wait_for(f, PHASE_MEASURED);
	part(fd, f->size, f->amount);
	wait_for(f, PHASE_END);
}

static void send_packets(int fd, unsigned int size, uint64_t packets)
{
	static const char buffer[PACKET_MAX];

	for (; packets; packets--)
		if (send(fd, buffer, size, 0) != (ssize_t)size)
			die("sending");
}

void udp_send(struct flow *f, unsigned int index)
{
	udp_call(f, send_packets);
}
