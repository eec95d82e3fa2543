/*
 * loop.h - waiting: for descriptors, moments and signals.
 *
 * One thread, one loop; the only part of the driver that knows how waiting is
 * done.  Every callback comes from loop_run(), never from the function that
 * asked for it.  A system call that fails is made again: it ends the program
 * only while that starts, or if it fails for seconds on end.
 */
#ifndef RUNTIME_LOOP_H
#define RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "runtime/timer.h"

struct loop;
struct loop_watch;

enum {
	LOOP_READ = 1,
	LOOP_WRITE = 2,
};

/* `events`: what the descriptor is ready for; an error counts as both. */
typedef void loop_watch_fn(void *arg, int events);
typedef void loop_signal_fn(void *arg, int signal);

/* A call that waits for its turn; lives in whatever asked for it. */
struct loop_call {
	void (*fn)(void *arg);
	void *arg;
	TAILQ_ENTRY(loop_call) link;
	bool queued;
};

/*
 * How long the passes of a loop took: from the end of one wait to the beginning
 * of the next.  Whatever becomes ready during a pass waits for its end.
 */
struct loop_lag {
	uint64_t passes;
	uint64_t over_10_ms, over_100_ms, over_1000_ms; /* of them */
	int64_t longest_ms;
};

struct loop *loop_new(void);

/* NULL is allowed. */
void loop_free(struct loop *loop);

/* Call back until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/*
 * Watch `fd` for `events` (LOOP_READ, LOOP_WRITE or both; 0 rests).  The
 * watch is the loop's; give it back with loop_unwatch() before `fd` is closed.
 * If the kernel refuses, for lack of memory, the loop asks it again: events
 * come later then.
 */
struct loop_watch *loop_watch(
    struct loop *loop, int fd, int events, loop_watch_fn *fn, void *arg);
void loop_watch_set(struct loop_watch *watch, int events);

/* NULL is allowed. */
void loop_unwatch(struct loop_watch *watch);

/* Call `timer->fn` once, `ms` from now; a timer that is set is moved. */
void loop_timer_set(struct loop *loop, struct timer *timer, int64_t ms);
void loop_timer_stop(struct loop *loop, struct timer *timer);

/* Call before the loop waits again; at most once until then. */
void loop_later(struct loop *loop, struct loop_call *call);

/* Withdraw a call that was asked for, if it was. */
void loop_cancel(struct loop *loop, struct loop_call *call);

/*
 * Have `signal` come as a call instead of what it does by default.  Each signal
 * has a call of its own; asked again for the same signal, the later call counts.
 */
void loop_signal(struct loop *loop, int signal, loop_signal_fn *fn, void *arg);

/* A call that loop_free() makes; lives in whatever asked for it. */
struct loop_end {
	void (*fn)(void *arg);
	void *arg;
	LIST_ENTRY(loop_end) link;
};

/*
 * For what stands on the loop and has no other owner: loop_free() calls `end->fn`,
 * which releases it.  Whatever is released before that is taken back first.
 */
void loop_at_end(struct loop *loop, struct loop_end *end);
void loop_not_at_end(struct loop_end *end);

/* All passes that have ended. */
struct loop_lag loop_lag(const struct loop *loop);

#endif
