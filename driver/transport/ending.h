/*
 * ending.h - the early end of a program whose time is over, or whose request is
 * cancelled.  The program is told to end, and killed if it goes on.
 */
#ifndef DRIVER_TRANSPORT_ENDING_H
#define DRIVER_TRANSPORT_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/loop.h"

struct outcome;

enum ending_cause {
	ENDING_NONE, /* it ends by itself */
	ENDING_TIMEOUT,
	ENDING_CANCELLED,
};

struct ending {
	struct loop *loop;
	int64_t timeout_ms; /* 0: it may take any time */
	enum ending_cause cause;
	struct timer limit_timer, kill_timer;
};

/*
 * `on_limit` is called with `arg` when the program's time is over, and `on_kill`
 * when a program that was told to end goes on.
 */
void ending_init(struct ending *ending, struct loop *loop, int64_t timeout_ms,
    void (*on_limit)(void *arg), void (*on_kill)(void *arg), void *arg);

/* The program's time begins, or begins again. */
void ending_begin(struct ending *ending);

/*
 * The program was told to end: it is killed after `kill_after_ms`.  The cause is
 * ENDING_NONE if the program has done its work.
 */
void ending_set(
    struct ending *ending, enum ending_cause cause, int64_t kill_after_ms);

/*
 * If the program had to end early, make `outcome` the error "`what` … `rest`".
 * False: it ended by itself.
 */
bool ending_explain(const struct ending *ending, struct outcome *outcome,
    const char *what, const char *rest);

/* Stop counting the program's time. */
void ending_forget(struct ending *ending);

/* Stop both timers: no call and no kill from now on. */
void ending_release(struct ending *ending);

#endif
