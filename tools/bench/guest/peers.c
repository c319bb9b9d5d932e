// SPDX-License-Identifier: GPL-2.0
/*
 * Many peers at once, with marks around it:
 *
 *   peers create|delete|dump FAMILY IFINDEX FIRST STRIDE COUNT LABEL
 *         [SOCKET VPN REMOTE PORT OTHERS EVERY SIDE]
 *
 * The peers are numbered FIRST, FIRST + STRIDE, ..; COUNT of them. A peer's address in
 * the tunnel is VPN plus its number. Every EVERY-th is at REMOTE, the others are at
 * addresses of their own from OTHERS on. SIDE is 0 or 1, the keys fit each other.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"
#include "message.h"

/* Of the family's specification. */
enum { CMD_PEER_NEW = 1, CMD_PEER_GET = 3, CMD_PEER_DEL = 4, CMD_KEY_NEW = 6 };
enum { A_IFINDEX = 1, A_PEER = 2, A_KEYCONF = 3 };

enum {
	PEER_ID = 1,
	PEER_REMOTE_IPV4 = 2,
	PEER_REMOTE_PORT = 5,
	PEER_SOCKET = 6,
	PEER_VPN_IPV4 = 8,
};

enum {
	KEY_PEER_ID = 1,
	KEY_SLOT = 2,
	KEY_ID = 3,
	KEY_CIPHER = 4,
	KEY_ENCRYPT = 5,
	KEY_DECRYPT = 6,
};

enum { DIR_KEY = 1, DIR_NONCE = 2 };

#define CIPHER_AES_GCM 1
#define KEY_SIZE 16
#define NONCE_SIZE 8
/* Requests in one system call. */
#define BATCH 32

struct wanted {
	unsigned int family, ifindex, first, stride, count;
	const char *label;
	unsigned int socket, port, every, side;
	in_addr_t vpn, remote, others;
};

static void put_direction(struct message *m, unsigned int type, unsigned int seed)
{
	unsigned char key[KEY_SIZE], nonce[NONCE_SIZE];
	size_t nest = message_nest(m, type);

	memset(key, 0x40 + seed, sizeof(key));
	memset(nonce, 0x60 + seed, sizeof(nonce));
	message_put(m, DIR_KEY, key, sizeof(key));
	message_put(m, DIR_NONCE, nonce, sizeof(nonce));
	message_end(m, nest);
}

static void put_peer(struct message *m, const struct wanted *w, unsigned int number)
{
	in_addr_t remote = number % w->every ? htonl(w->others + number) : htonl(w->remote);
	in_addr_t vpn = htonl(w->vpn + number);
	uint16_t port = htons(w->port);
	size_t nest;

	message_begin(m, w->family, CMD_PEER_NEW, 0, number);
	message_u32(m, A_IFINDEX, w->ifindex);
	nest = message_nest(m, A_PEER);
	message_u32(m, PEER_ID, number);
	message_u32(m, PEER_SOCKET, w->socket);
	message_put(m, PEER_REMOTE_IPV4, &remote, sizeof(remote));
	message_put(m, PEER_REMOTE_PORT, &port, sizeof(port));
	message_put(m, PEER_VPN_IPV4, &vpn, sizeof(vpn));
	message_end(m, nest);
	message_finish(m);
}

static void put_key(struct message *m, const struct wanted *w, unsigned int number)
{
	size_t nest;

	message_begin(m, w->family, CMD_KEY_NEW, 0, number);
	message_u32(m, A_IFINDEX, w->ifindex);
	nest = message_nest(m, A_KEYCONF);
	message_u32(m, KEY_PEER_ID, number);
	message_u32(m, KEY_SLOT, 0);
	message_u32(m, KEY_ID, 0);
	message_u32(m, KEY_CIPHER, CIPHER_AES_GCM);
	put_direction(m, KEY_ENCRYPT, w->side);
	put_direction(m, KEY_DECRYPT, !w->side);
	message_end(m, nest);
	message_finish(m);
}

static void put_delete(struct message *m, const struct wanted *w, unsigned int number)
{
	size_t nest;

	message_begin(m, w->family, CMD_PEER_DEL, 0, number);
	message_u32(m, A_IFINDEX, w->ifindex);
	nest = message_nest(m, A_PEER);
	message_u32(m, PEER_ID, number);
	message_end(m, nest);
	message_finish(m);
}

static void each(const struct wanted *w, int creates)
{
	struct message *m = message_open();

	for (unsigned int i = 0; i < w->count; i++) {
		unsigned int number = w->first + i * w->stride;

		if (creates) {
			put_peer(m, w, number);
			put_key(m, w, number);
		} else {
			put_delete(m, w, number);
		}
		if (i % BATCH == BATCH - 1 || i == w->count - 1)
			message_send(m);
	}
}

static void dump(const struct wanted *w)
{
	struct message *m = message_open();
	unsigned int peers;

	message_begin(m, w->family, CMD_PEER_GET, NLM_F_DUMP, 0);
	message_u32(m, A_IFINDEX, w->ifindex);
	message_finish(m);
	peers = message_dump(m);
	if (peers != w->count) {
		fprintf(stderr, "peers: %u peers listed of %u\n", peers, w->count);
		exit(1);
	}
}

static void parse(struct wanted *w, char **argv)
{
	w->socket = strtoul(argv[0], NULL, 10);
	w->vpn = ntohl(inet_addr(argv[1]));
	w->remote = ntohl(inet_addr(argv[2]));
	w->port = strtoul(argv[3], NULL, 10);
	w->others = ntohl(inet_addr(argv[4]));
	w->every = strtoul(argv[5], NULL, 10);
	w->side = strtoul(argv[6], NULL, 10);
}

static unsigned long long free_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (unsigned long long)info.freeram * info.mem_unit;
}

int main(int argc, char **argv)
{
	/* What is released later belongs to the measurement too. */
	struct timespec settle = { .tv_nsec = 200 * 1000 * 1000 };
	unsigned long long before = free_memory();
	struct wanted w;

	if (argc != 8 && argc != 15) {
		fprintf(stderr, "usage: see the head of peers.c\n");
		return 2;
	}
	w = (struct wanted){ .family = strtoul(argv[2], NULL, 10),
			     .ifindex = strtoul(argv[3], NULL, 10),
			     .first = strtoul(argv[4], NULL, 10),
			     .stride = strtoul(argv[5], NULL, 10),
			     .count = strtoul(argv[6], NULL, 10),
			     .label = argv[7] };
	if (argc == 15)
		parse(&w, argv + 8);
	mark(MARK_START, NULL, 0);
	if (!strcmp(argv[1], "dump"))
		dump(&w);
	else
		each(&w, !strcmp(argv[1], "create"));
	nanosleep(&settle, NULL);
	mark(MARK_STOP, w.label, strlen(w.label));
	printf("memory %lld\n", (long long)(before - free_memory()));
	return 0;
}
