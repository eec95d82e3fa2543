/*
 * loop.h - waiting for descriptors, moments and signals.
 *
 * There is one thread and one loop.  No other part of the driver knows how
 * waiting is done.  Every callback comes from loop_run(), never from the
 * function that asked for it.  If a system call fails, the loop makes it again.
 * A failure ends the program only at its start, or if it goes on for seconds.
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

/* A call that waits for its turn; its memory is the caller's. */
struct loop_call {
	void (*fn)(void *arg);
	void *arg;
	TAILQ_ENTRY(loop_call) link;
	bool queued;
};

/*
 * How long the passes of a loop took.  A pass goes from the end of one wait to
 * the beginning of the next.  A descriptor that becomes ready during a pass
 * waits for its end.
 */
struct loop_lag {
	uint64_t passes;
	uint64_t over_10_ms, over_100_ms, over_1000_ms; /* of them */
	int64_t longest_ms;
};

struct loop *loop_new(void);

/* NULL is allowed. */
void loop_free(struct loop *loop);

/* Make the callbacks until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/*
 * Watch `fd` for `events` (LOOP_READ, LOOP_WRITE or both; 0: none for now).
 * The loop owns the watch; give it back with loop_unwatch() before `fd` is
 * closed.  If the kernel has no memory for the watch, the loop asks it again:
 * then events come later.
 */
struct loop_watch *loop_watch(
    struct loop *loop, int fd, int events, loop_watch_fn *fn, void *arg);
void loop_watch_set(struct loop_watch *watch, int events);

/* NULL is allowed. */
void loop_unwatch(struct loop_watch *watch);

/*
 * Call `timer->fn` once, `ms` from now.  A timer that is set already is moved.
 */
void loop_timer_set(struct loop *loop, struct timer *timer, int64_t ms);
void loop_timer_stop(struct loop *loop, struct timer *timer);

/* Make the call before the loop waits again, and at most once until then. */
void loop_later(struct loop *loop, struct loop_call *call);

/* Withdraw the call, if it was asked for. */
void loop_cancel(struct loop *loop, struct loop_call *call);

/*
 * Have `signal` make a call in place of its default action.  Each signal has a
 * call of its own.  If one is set twice, the later call counts.
 */
void loop_signal(struct loop *loop, int signal, loop_signal_fn *fn, void *arg);

/* A call that loop_free() makes; its memory is the caller's. */
struct loop_end {
	void (*fn)(void *arg);
	void *arg;
	LIST_ENTRY(loop_end) link;
};

/*
 * Give the loop an object that has no other owner: loop_free() calls `end->fn`,
 * which releases the object.  Take it back before it is released earlier.
 */
void loop_at_end(struct loop *loop, struct loop_end *end);
void loop_not_at_end(struct loop_end *end);

/* The lag of all passes that have ended. */
struct loop_lag loop_lag(const struct loop *loop);

#endif
