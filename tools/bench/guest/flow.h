/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the traffic program share. */

#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PACKET_MAX 9000
#define BLOCK_SIZE (128 * 1024)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum phase {
	/* Until caches, windows and routes are what they will stay. */
	PHASE_WARMUP,
	PHASE_MEASURED,
	/* Begins when everything is over. */
	PHASE_END,
	PHASES,
};

struct flow {
	const char *from, *to, *address, *label;
	unsigned int port, flows;
	/* TCP: bytes. UDP: packets, of the size below. */
	uint64_t warmup, amount;
	unsigned int size;
	struct sockaddr_storage peer;
	socklen_t peer_length;
	/* Receivers say here that a phase is over. */
	int done[2];
	/* Senders wait here for a phase. One pipe each: a quick one must not take two turns. */
	int go[PHASES][2];
};

void die(const char *what);
void enter(const char *space);
int new_socket(const struct flow *f, int type);
void say_done(const struct flow *f);
void wait_for(const struct flow *f, enum phase phase);

/* The two ends, each in a process of its own; index counts the flows. */
void tcp_listen(struct flow *f);
void tcp_receive(struct flow *f, unsigned int index);
void tcp_send(struct flow *f, unsigned int index);
void udp_listen(struct flow *f);
void udp_receive(struct flow *f, unsigned int index);
void udp_send(struct flow *f, unsigned int index);
/* Both phases of an end that waits for packets, and of one that begins. */
void udp_serve(struct flow *f, void (*part)(int fd, uint64_t packets));
void udp_call(struct flow *f, void (*part)(int fd, unsigned int size, uint64_t packets));
void turns_receive(struct flow *f, unsigned int index);
void turns_send(struct flow *f, unsigned int index);
void spread_send(struct flow *f, unsigned int index);

#endif
