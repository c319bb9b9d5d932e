// SPDX-License-Identifier: GPL-2.0
/*
 * Each task has a stack of contexts: a softirq runs on top of whatever task it
 * interrupts, a work item on top of its worker, and either may be left for
 * another task in between. At each change the counters' growth since the last one
 * is booked to the context that ends.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "context.h"
#include "guest.h"
#include "options.h"

#define TASKS_MAX 8192
#define DEPTH_MAX 8

struct context {
	char name[CONTEXT_NAME];
	uint64_t *counts;
	size_t used;
};

struct task {
	uint64_t address;
	unsigned int depth;
	unsigned int stack[DEPTH_MAX];
};

static struct context contexts[CONTEXTS_MAX];
static size_t context_count;
static struct task tasks[TASKS_MAX];
static struct task *current = &tasks[0];
static bool measuring;
static uint64_t *last;
static size_t last_used;

static void *grown(void *old, size_t used, size_t wanted)
{
	uint64_t *array = realloc(old, wanted * sizeof(*array));

	if (!array) {
		fprintf(stderr, "plugin: no memory for %zu counters\n", wanted);
		exit(1);
	}
	memset(array + used, 0, (wanted - used) * sizeof(*array));
	return array;
}

static void book(struct context *to)
{
	size_t used = counters_used();
	const uint64_t *now = counters();

	if (last_used < used) {
		last = grown(last, last_used, used);
		last_used = used;
	}
	if (to->used < used) {
		to->counts = grown(to->counts, to->used, used);
		to->used = used;
	}
	for (size_t i = 0; i < used; i++) {
		to->counts[i] += now[i] - last[i];
		last[i] = now[i];
	}
}

static struct context *running(void)
{
	return &contexts[current->stack[current->depth]];
}

static void settle(void)
{
	if (measuring)
		book(running());
}

static unsigned int context_of(const char *kind, const char *name)
{
	char full[CONTEXT_NAME];
	size_t i;

	snprintf(full, sizeof(full), "%s:%s", kind, name);
	for (i = 0; i < context_count; i++)
		if (!strcmp(contexts[i].name, full))
			return i;
	if (i == CONTEXTS_MAX)
		return CONTEXTS_MAX - 1;
	context_count++;
	/* What has no room of its own shares the last one. */
	snprintf(contexts[i].name, CONTEXT_NAME, "%s",
		 i == CONTEXTS_MAX - 1 ? "task:(others)" : full);
	return i;
}

static unsigned int task_context(uint64_t address)
{
	char name[16];

	guest_text(address + options.comm, name, sizeof(name));
	return context_of("task", name);
}

static struct task *task_at(uint64_t address)
{
	size_t at = (address >> 6) % TASKS_MAX;

	for (size_t tries = 0; tries < TASKS_MAX; tries++, at = (at + 1) % TASKS_MAX) {
		if (!tasks[at].address)
			tasks[at].address = address;
		if (tasks[at].address == address)
			return &tasks[at];
	}
	return &tasks[at];
}

void context_task(uint64_t address)
{
	struct task *next = task_at(address);

	settle();
	current = next;
	current->stack[0] = task_context(address);
}

void context_refresh(void)
{
	if (current->address)
		current->stack[0] = task_context(current->address);
}

static void enter(unsigned int which)
{
	settle();
	if (current->depth + 1 < DEPTH_MAX)
		current->stack[++current->depth] = which;
}

void context_leave(void)
{
	settle();
	if (current->depth)
		current->depth--;
}

void context_napi(uint64_t napi)
{
	char name[16] = "backlog";
	uint64_t dev = guest_pointer(napi + options.dev);

	if (dev)
		guest_text(dev + options.name, name, sizeof(name));
	enter(context_of("napi", name));
}

void context_work(uint64_t work)
{
	char name[20];

	snprintf(name, sizeof(name), "%llx",
		 (unsigned long long)guest_pointer(work + options.func));
	enter(context_of("work", name));
}

void contexts_start(void)
{
	if (!context_count)
		context_of("task", "(boot)");
	context_refresh();
	for (size_t i = 0; i < CONTEXTS_MAX; i++) {
		free(contexts[i].counts);
		contexts[i].counts = NULL;
		contexts[i].used = 0;
	}
	measuring = true;
	/* Brings the last values up to date, what it books is thrown away. */
	book(running());
	memset(running()->counts, 0, running()->used * sizeof(uint64_t));
}

void contexts_stop(void)
{
	settle();
	measuring = false;
}

size_t contexts_count(void)
{
	return context_count;
}

const char *context_name(size_t index)
{
	return contexts[index].name;
}

const uint64_t *context_counts(size_t index)
{
	struct context *context = &contexts[index];

	if (context->counts && context->used < counters_used()) {
		context->counts = grown(context->counts, context->used, counters_used());
		context->used = counters_used();
	}
	return context->counts;
}
