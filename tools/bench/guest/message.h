/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink requests, several in one system call. */

#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

struct message;

struct message *message_open(void);
/* The number comes back with an answer. */
void message_begin(struct message *m, unsigned int family, unsigned int command,
		   unsigned int flags, unsigned int number);
void message_put(struct message *m, unsigned int type, const void *value, size_t length);
void message_u32(struct message *m, unsigned int type, uint32_t value);
size_t message_nest(struct message *m, unsigned int type);
void message_end(struct message *m, size_t nest);
void message_finish(struct message *m);
/* Sends what is there and waits until the last request is answered. */
void message_send(struct message *m);
/* Sends a dump request; returns how many answers there are. */
unsigned int message_dump(struct message *m);

#endif
