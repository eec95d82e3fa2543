/*
 * kept.h - reports that were not applied, and when they are made again.
 *
 * Somebody else held the instance, or the turn that carried the report failed.
 * Most are made again with others after a moment.  One that was not applied
 * several times is made alone: then it may wait for its instance, and nobody
 * else has to suffer what it does to the session.
 */
#ifndef DRIVER_KEPT_H
#define DRIVER_KEPT_H

#include <stdbool.h>

#include "driver/loop.h"

struct request;
struct request_list;

struct kept {
	struct loop *loop;
	struct request_list *list; /* of those that are kept */
	struct request_list *due;  /* where they go */
	bool waits;                /* one may wait for its instance now */
	struct timer timer, wait_timer;
	void (*changed)(void *arg);
	void *arg;
};

/* Both lists are borrowed; `changed` is called when one has become due. */
void kept_init(struct kept *kept, struct loop *loop, struct request_list *list,
    struct request_list *due, void (*changed)(void *arg), void *arg);
void kept_release(struct kept *kept);

/* A turn has ended, and some may have come to the list: they are kept a while. */
void kept_end_turn(struct kept *kept);

/* The report that is to be made alone now; NULL: there is none. */
struct request *kept_alone(struct kept *kept);

/* The report did not wait in vain: the next one may wait at once. */
void kept_waited(struct kept *kept);

/* Whether `other` is carried with it, because it has the same instance. */
bool kept_goes_along(
    const struct request *request, const struct request *other);

#endif
