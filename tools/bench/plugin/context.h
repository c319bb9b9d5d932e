/* SPDX-License-Identifier: GPL-2.0 */
/* On whose behalf the CPU works: a task, a NAPI, a work item. */

#ifndef CONTEXT_H
#define CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#define CONTEXTS_MAX 256
#define CONTEXT_NAME 32

void context_task(uint64_t task);
void context_napi(uint64_t napi);
void context_work(uint64_t work);
void context_leave(void);
/* Reads the current task's name again, it may have been renamed. */
void context_refresh(void);

void contexts_start(void);
void contexts_stop(void);
size_t contexts_count(void);
const char *context_name(size_t index);
/* What was counted on its behalf, one number per counter; NULL when nothing was. */
const uint64_t *context_counts(size_t index);

#endif
