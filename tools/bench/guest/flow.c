// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic between two network namespaces, with marks around what is measured:
 *
 *   flow KIND FROM TO ADDRESS PORT FLOWS WARMUP AMOUNT SIZE LABEL
 *
 * KIND is tcp, udp, turns or spread. TCP moves WARMUP and then AMOUNT bytes in all, in
 * blocks of 128 KiB; UDP that many packets of SIZE bytes. With the kind turns each packet is
 * answered, see turns.c, with spread they go to many addresses, see spread.c. Both ends are
 * children of one process, so that "all has arrived" costs the network under test nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "mark.h"

#define USAGE "KIND FROM TO ADDRESS PORT FLOWS WARMUP AMOUNT SIZE LABEL"

struct kind {
	const char *name;
	void (*listen)(struct flow *f);
	void (*receive)(struct flow *f, unsigned int index);
	void (*send)(struct flow *f, unsigned int index);
};

static const struct kind kinds[] = {
	{ "tcp", tcp_listen, tcp_receive, tcp_send },
	{ "udp", udp_listen, udp_receive, udp_send },
	{ "turns", udp_listen, turns_receive, turns_send },
	{ "spread", udp_listen, udp_receive, spread_send },
};

void die(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	exit(1);
}

void enter(const char *space)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", space);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

int new_socket(const struct flow *f, int type)
{
	int fd = socket(f->peer.ss_family, type, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

void say_done(const struct flow *f)
{
	if (write(f->done[1], "d", 1) != 1)
		die("telling that a phase is over");
}

void wait_for(const struct flow *f, enum phase phase)
{
	char byte;

	if (read(f->go[phase][0], &byte, 1) < 0)
		die("waiting for the next phase");
}

static void resolve(struct flow *f)
{
	struct sockaddr_in *v4 = (void *)&f->peer;
	struct sockaddr_in6 *v6 = (void *)&f->peer;

	if (inet_pton(AF_INET, f->address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(f->port);
		f->peer_length = sizeof(*v4);
	} else if (inet_pton(AF_INET6, f->address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(f->port);
		f->peer_length = sizeof(*v6);
	} else {
		errno = EINVAL;
		die(f->address);
	}
}

static pid_t start(struct flow *f, const char *name, const char *space,
		   void (*run)(struct flow *f, unsigned int index), unsigned int index)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	enter(space);
	run(f, index);
	exit(0);
}

/* Until every receiver has all of a phase. */
static void wait_phase(const struct flow *f)
{
	char byte;

	for (unsigned int i = 0; i < f->flows; i++)
		if (read(f->done[0], &byte, 1) != 1) {
			fprintf(stderr, "flow: a receiver ended before it had everything\n");
			exit(1);
		}
}

static void release(const struct flow *f, enum phase phase)
{
	for (unsigned int i = 0; i < f->flows; i++)
		if (write(f->go[phase][1], "g", 1) != 1)
			die("starting the next phase");
}

static double seconds(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / 1000000000;
}

static void measure(const struct flow *f)
{
	struct timespec began, ended, pause = { .tv_nsec = 20 * 1000 * 1000 };

	release(f, PHASE_WARMUP);
	wait_phase(f);
	/* The last acknowledgments are still on their way. */
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &began);
	mark(MARK_START, NULL, 0);
	release(f, PHASE_MEASURED);
	wait_phase(f);
	mark(MARK_STOP, f->label, strlen(f->label));
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("seconds %.6f\n", seconds(&ended) - seconds(&began));
	fflush(stdout);
}

static int run(struct flow *f, const struct kind *kind)
{
	int status, failed = 0;

	if (pipe(f->done))
		die("pipe");
	for (int i = 0; i < PHASES; i++)
		if (pipe(f->go[i]))
			die("pipe");
	resolve(f);
	enter(f->to);
	kind->listen(f);
	for (unsigned int i = 0; i < f->flows; i++)
		start(f, "bench-rx", f->to, kind->receive, i);
	for (unsigned int i = 0; i < f->flows; i++)
		start(f, "bench-tx", f->from, kind->send, i);
	close(f->done[1]);
	measure(f);
	release(f, PHASE_END);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct flow f;

	if (argc != 11) {
		fprintf(stderr, "usage: flow " USAGE "\n");
		return 2;
	}
	memset(&f, 0, sizeof(f));
	f.from = argv[2];
	f.to = argv[3];
	f.address = argv[4];
	f.port = strtoul(argv[5], NULL, 10);
	f.flows = strtoul(argv[6], NULL, 10);
	f.warmup = strtoull(argv[7], NULL, 10) / f.flows;
	f.amount = strtoull(argv[8], NULL, 10) / f.flows;
	f.size = strtoul(argv[9], NULL, 10);
	f.label = argv[10];
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			return run(&f, &kinds[i]);
	fprintf(stderr, "flow: there is no kind of traffic '%s'\n", argv[1]);
	return 2;
}
