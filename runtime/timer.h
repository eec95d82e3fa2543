/*
 * timer.h - which moment comes first: a heap of timers.
 *
 * All other code sets its timers through loop.h.
 */
#ifndef RUNTIME_TIMER_H
#define RUNTIME_TIMER_H

#include <stddef.h>

#include "common/mono.h"

/* Its memory is the caller's; set to zero, it is at rest. */
struct timer {
	struct mono due;
	void (*fn)(void *arg);
	void *arg;
	size_t place; /* in the heap, from 1; 0: not set */
};

struct timers {
	struct timer **heap;
	size_t count, size;
};

/* Set `timer` to its `due`, or move it there if it is set already. */
void timers_set(struct timers *timers, struct timer *timer);

/* A timer at rest stays at rest. */
void timers_stop(struct timers *timers, struct timer *timer);

/* The timer that is due first, or NULL. */
struct timer *timers_first(const struct timers *timers);

/* Release the heap; the timers belong to others. */
void timers_release(struct timers *timers);

#endif
