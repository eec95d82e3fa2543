/*
 * pace.h - when the next turn is due.
 *
 * The workspace says when to come back; while nothing is found the pauses
 * double, and after failures too.  The doorbell, which any login may ring, hurries
 * it so many times a second at most.
 */
#ifndef DRIVER_PACE_H
#define DRIVER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/timer.h"

enum {
	PACE_RINGS = 100, /* that are followed at once, and then in a second */
};

struct config;
struct load;
struct loop;

/* When to come back, as a poll said. */
struct rest {
	int64_t ms;
	bool busy; /* others work: about then; otherwise at the latest */
	int work;  /* how many sessions may do upkeep */
};

/* Read the fields; change them only through the functions. */
struct pace {
	struct loop *loop;
	const struct config *config;
	bool due;    /* to poll */
	bool hungry; /* the last poll for slots brought all that was wanted */
	bool output; /* is due to be sent */
	bool paused; /* after a failure: no turns at all */
	int64_t idle_ms;
	int failures; /* in a row */
	int rings;    /* that were followed a moment ago */
	bool rung;    /* since then, and not followed yet */
	struct timer poll_timer, pause_timer, output_timer, ring_timer;
	void (*changed)(void *arg); /* something has become due */
	void *arg;
};

void pace_init(struct pace *pace, struct loop *loop,
    const struct config *config, void (*changed)(void *arg), void *arg);
void pace_release(struct pace *pace);

/* Poll as soon as possible. */
void pace_hurry(struct pace *pace);

/*
 * The doorbell rings: poll as soon as possible, or a moment later if it rings all
 * the time.
 */
void pace_ring(struct pace *pace);

/* Output is due within a second, if there is any. */
void pace_output(struct pace *pace, bool is_any);

/*
 * A poll is on its way and carries what was due.  The next poll waits for its end,
 * but not for ever.
 */
void pace_begin(struct pace *pace);

/* It brought `taken` of `want`, and was told to `rest`. */
void pace_end(struct pace *pace, const struct load *taken,
    const struct load *want, const struct rest *rest);

/*
 * A turn or a heartbeat failed: turns pause, longer each time.  What fails
 * during a pause does not put its end off: heartbeats might do so without end.
 */
void pace_fail(struct pace *pace);

/* Forget that turns failed. */
void pace_resume(struct pace *pace);

#endif
