// SPDX-License-Identifier: GPL-2.0
/*
 * UDP packets to many peers in turn, each from the address that belongs to it. The
 * environment says which: SPREAD=FROM,TO,FIRST,STRIDE,COUNT; the n-th of COUNT peers
 * has the number FIRST + n * STRIDE, and that number is added to both addresses.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* A prime: neighbours in time are none in the tables. */
#define STEP 7919

struct spread {
	in_addr_t from, to;
	unsigned int first, stride, count;
};

static struct spread spread;

static void parse(void)
{
	const char *text = getenv("SPREAD");
	char from[32], to[32];

	if (!text || sscanf(text, "%31[^,],%31[^,],%u,%u,%u", from, to, &spread.first,
			    &spread.stride, &spread.count) != 5) {
		fprintf(stderr, "flow: SPREAD is not FROM,TO,FIRST,STRIDE,COUNT\n");
		exit(2);
	}
	spread.from = ntohl(inet_addr(from));
	spread.to = ntohl(inet_addr(to));
}

static void send_one(int fd, const struct flow *f, uint64_t turn)
{
	static char payload[PACKET_MAX];
	unsigned int number = spread.first + turn * STEP % spread.count * spread.stride;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(f->port) };
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = { 0 };
	struct iovec data = { payload, f->size };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to),
				  .msg_iov = &data, .msg_iovlen = 1,
				  .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	struct in_pktinfo *info = (void *)CMSG_DATA(head);

	head->cmsg_level = IPPROTO_IP;
	head->cmsg_type = IP_PKTINFO;
	head->cmsg_len = CMSG_LEN(sizeof(*info));
	info->ipi_spec_dst.s_addr = htonl(spread.from + number);
	to.sin_addr.s_addr = htonl(spread.to + number);
	if (sendmsg(fd, &message, 0) < 0)
		die("sending to a peer");
}

void spread_send(struct flow *f, unsigned int index)
{
	int fd = new_socket(f, SOCK_DGRAM);

	parse();
	wait_for(f, PHASE_WARMUP);
	for (uint64_t i = 0; i < f->warmup; i++)
		send_one(fd, f, i);
	wait_for(f, PHASE_MEASURED);
	for (uint64_t i = 0; i < f->amount; i++)
		send_one(fd, f, i);
	wait_for(f, PHASE_END);
}
