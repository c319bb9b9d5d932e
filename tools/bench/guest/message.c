// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "message.h"

#define SIZE 65536

struct message {
	int fd;
	size_t length, begin;
	char data[SIZE];
};

static void fail(const char *what, int error)
{
	fprintf(stderr, "peers: %s: %s\n", what, strerror(error));
	exit(1);
}

struct message *message_open(void)
{
	struct message *m = calloc(1, sizeof(*m));

	if (!m)
		fail("memory for requests", ENOMEM);
	m->fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (m->fd < 0)
		fail("netlink socket", errno);
	return m;
}

static void *room(struct message *m, size_t length)
{
	void *place = m->data + m->length;

	if (m->length + NLMSG_ALIGN(length) > SIZE)
		fail("too many requests at once", EMSGSIZE);
	memset(place, 0, NLMSG_ALIGN(length));
	m->length += NLMSG_ALIGN(length);
	return place;
}

void message_begin(struct message *m, unsigned int family, unsigned int command,
		   unsigned int flags, unsigned int number)
{
	struct nlmsghdr *head;
	struct genlmsghdr *command_head;

	m->begin = m->length;
	head = room(m, sizeof(*head));
	head->nlmsg_type = family;
	head->nlmsg_flags = NLM_F_REQUEST | flags;
	head->nlmsg_seq = number;
	command_head = room(m, sizeof(*command_head));
	command_head->cmd = command;
	command_head->version = 1;
}

void message_put(struct message *m, unsigned int type, const void *value, size_t length)
{
	struct nlattr *attr = room(m, NLA_HDRLEN + length);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + length;
	memcpy((char *)attr + NLA_HDRLEN, value, length);
}

void message_u32(struct message *m, unsigned int type, uint32_t value)
{
	message_put(m, type, &value, sizeof(value));
}

size_t message_nest(struct message *m, unsigned int type)
{
	size_t at = m->length;
	struct nlattr *attr = room(m, NLA_HDRLEN);

	attr->nla_type = type | NLA_F_NESTED;
	return at;
}

void message_end(struct message *m, size_t nest)
{
	struct nlattr *attr = (void *)(m->data + nest);

	attr->nla_len = m->length - nest;
}

void message_finish(struct message *m)
{
	struct nlmsghdr *head = (void *)(m->data + m->begin);

	head->nlmsg_len = m->length - m->begin;
}

static void transmit(struct message *m)
{
	if (send(m->fd, m->data, m->length, 0) != (ssize_t)m->length)
		fail("sending requests", errno);
	m->length = 0;
}

static size_t answers(struct message *m)
{
	ssize_t got = recv(m->fd, m->data, SIZE, 0);

	if (got < 0)
		fail("waiting for an answer", errno);
	return got;
}

/* A request that fails is answered unasked, and it comes before the last one's answer. */
void message_send(struct message *m)
{
	struct nlmsghdr *last = (void *)(m->data + m->begin);

	last->nlmsg_flags |= NLM_F_ACK;
	transmit(m);
	for (;;) {
		unsigned int left = answers(m);
		struct nlmsghdr *head = (void *)m->data;

		for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			struct nlmsgerr *error = NLMSG_DATA(head);

			if (head->nlmsg_type != NLMSG_ERROR)
				continue;
			if (error->error) {
				fprintf(stderr, "peers: number %u\n", head->nlmsg_seq);
				fail("a request", -error->error);
			}
			if (error->msg.nlmsg_flags & NLM_F_ACK)
				return;
		}
	}
}

unsigned int message_dump(struct message *m)
{
	unsigned int found = 0;

	transmit(m);
	for (;;) {
		unsigned int left = answers(m);
		struct nlmsghdr *head = (void *)m->data;

		for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_DONE)
				return found;
			if (head->nlmsg_type == NLMSG_ERROR)
				fail("the dump", -((struct nlmsgerr *)NLMSG_DATA(head))->error);
			found++;
		}
	}
}
