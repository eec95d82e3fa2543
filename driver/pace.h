/*
 * pace.h - when the next turn is due.
 *
 * The workspace says when to come back.  While polls find nothing, the pauses
 * double; after failures they double too.  The doorbell hurries the next turn.
 * Any login may ring it, so at most PACE_RINGS rings a second are followed.
 */
#ifndef DRIVER_PACE_H
#define DRIVER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/timer.h"

enum {
	PACE_RINGS = 100, /* followed at once, and then in a second */
};

struct config;
struct load;
struct loop;

/* When to come back, as a poll said. */
struct rest {
	int64_t ms;
	bool busy; /* others work: come at about then; else at the latest */
	int work;  /* how many sessions may do upkeep */
};

/* Read the fields; change them only through the functions. */
struct pace {
	struct loop *loop;
	const struct config *config;
	bool due;    /* to poll */
	bool hungry; /* the last poll brought as many as it wanted */
	bool output; /* output is due */
	bool paused; /* after a failure: no turn begins */
	int64_t idle_ms;
	int failures; /* in a row */
	int rings;    /* followed a moment ago */
	bool rung;    /* one more ring waits */
	struct timer poll_timer, pause_timer, output_timer, ring_timer,
	    room_timer;
	void (*changed)(void *arg); /* something has become due */
	void *arg;
};

void pace_init(struct pace *pace, struct loop *loop,
    const struct config *config, void (*changed)(void *arg), void *arg);
void pace_release(struct pace *pace);

/* Poll as soon as possible. */
void pace_hurry(struct pace *pace);

/*
 * The doorbell rings: poll as soon as possible, or a moment later if it rings
 * all the time.
 */
void pace_ring(struct pace *pace);

/* If there is output, it is due within a second. */
void pace_output(struct pace *pace, bool is_any);

/*
 * If there is room for requests that may be ready, a poll is due soon: by then there
 * may be room for more of them.
 */
void pace_room(struct pace *pace, bool is_any);

/*
 * A poll is on its way and carries what was due.  The next poll waits for its end,
 * but not for ever.
 */
void pace_begin(struct pace *pace);

/* The poll brought `taken` of `want`; `rest` says when to come back. */
void pace_end(struct pace *pace, const struct load *taken,
    const struct load *want, const struct rest *rest);

/*
 * A turn or a heartbeat failed: turns pause, longer each time.  A failure
 * during a pause does not put its end off; else heartbeats might do so without
 * end.
 */
void pace_fail(struct pace *pace);

/* Forget that turns failed. */
void pace_resume(struct pace *pace);

#endif
