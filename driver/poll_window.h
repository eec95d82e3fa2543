/*
 * poll_window.h - how much a turn asks for.
 *
 * A request that takes time needs a slot.  An instant request needs none, and a turn
 * costs the workspace nearly the same however many it carries.  So while turns bring
 * as many instant requests as they asked for, the next turn asks for twice as many,
 * up to a limit, since their reports are kept until a turn carries them.  When there
 * are fewer, the next turn asks for half as many.  When they are large, the window
 * is reset.
 *
 * A request that takes time may become ready just after a turn has begun; then it
 * waits for the end of this turn and of the next.  So for some turns after such a
 * request, turns are short: they ask for half as many as one that is not doubled.
 */
#ifndef DRIVER_POLL_WINDOW_H
#define DRIVER_POLL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/transport/transport.h"

/* Requests that a turn asks for, or brought. */
struct load {
	int64_t slots;   /* those that take time: each needs a slot */
	int64_t instant; /* those that are answered at once */
	int64_t bytes;   /* of the instant ones' arguments */

	/* asked for besides, each of one transport only */
	struct {
		const char *transport; /* NULL: the list ends */
		int64_t slots;
	} kept[TRANSPORTS_MOST];
};

/* `{ 0 }`: no turn has ended yet.  Read the fields; change none. */
struct poll_window {
	int doubled;
	int mixed; /* so many more turns are short */
	bool full; /* the last turn brought as many as it asked for */
};

/*
 * What the next turn asks for.  Slots: as many as there is `room` for.  Instant
 * requests: at first as many as the most slots of a turn, `most`; half of them
 * if the turn is to be short.  Both are less by `due`, the number of reports that
 * the turn can't carry.
 */
struct load poll_window_want(
    const struct poll_window *window, int64_t room, int64_t most, int64_t due);

/* A turn that asked for `want` brought `taken`. */
void poll_window_end(struct poll_window *window, const struct load *taken,
    const struct load *want);

#endif
