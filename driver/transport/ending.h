/*
 * ending.h - the early end of a program: its time is over, or it is cancelled.
 * It is told so, and killed if it takes no notice.
 */
#ifndef DRIVER_TRANSPORT_ENDING_H
#define DRIVER_TRANSPORT_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/loop.h"

struct child;
struct outcome;

enum ending_cause {
	ENDING_NONE, /* it ends when it wants */
	ENDING_TIMEOUT,
	ENDING_CANCELLED,
};

struct ending {
	struct loop *loop;
	int64_t timeout_ms; /* 0: it may take any time */
	enum ending_cause cause;
	struct child *child; /* to be killed */
	struct timer limit_timer, kill_timer;
};

/* `on_limit` is called with `arg` when its time is over. */
void ending_init(struct ending *ending, struct loop *loop, int64_t timeout_ms,
    void (*on_limit)(void *arg), void *arg);

/* Its time begins, anew if it has begun before. */
void ending_begin(struct ending *ending);

/* It was told to end: `child` is killed after `kill_after_ms`. */
void ending_set(struct ending *ending, enum ending_cause cause,
    struct child *child, int64_t kill_after_ms);

/*
 * Make `outcome` the error that `what` had to end; `rest` is the end of that
 * sentence.  False: it had not.
 */
bool ending_explain(const struct ending *ending, struct outcome *outcome,
    const char *what, const char *rest);

/* Its time is not counted any more. */
void ending_forget(struct ending *ending);

/* Nobody is called, and nothing is killed, from now on. */
void ending_release(struct ending *ending);

#endif
