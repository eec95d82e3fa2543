/*
 * crowd.h - whether the commands that wait for a host would wait for long.
 *
 * A connection costs as much as many short commands.  So while the commands before
 * them end fast, one more connection would delay more commands than it helps.
 */
#ifndef DRIVER_TRANSPORT_SSH_CROWD_H
#define DRIVER_TRANSPORT_SSH_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"

enum {
	CROWD_LOOK_MS = 100,  /* how long it takes to see how fast they end */
	CROWD_LONG_MS = 1000, /* a wait that is worth one more connection */
};

/* `{ 0 }`: nobody waits.  The fields are for crowd.c only. */
struct crowd {
	bool waits;
	struct mono since; /* the commands that have ended are counted */
	int64_t ended;
};

/*
 * Whether the last of `waiting` commands would wait for longer than CROWD_LONG_MS,
 * if commands go on ending as fast as they did.  False until it has been asked for
 * CROWD_LOOK_MS.
 */
bool crowd_waits_long(struct crowd *crowd, int64_t waiting, struct mono now);

/* A command has ended; nobody waits any more. */
void crowd_ended(struct crowd *crowd);
void crowd_gone(struct crowd *crowd);

#endif
