/*
 * deferred.h - reports that were not applied, and when they are made again.
 *
 * Somebody else held the instance, or the turn that carried the report failed.
 * Most are made again with others after a moment.  One that was not applied
 * several times is made alone: then it may wait for its instance, and nobody
 * else has to suffer what it does to the session.
 */
#ifndef DRIVER_DEFERRED_H
#define DRIVER_DEFERRED_H

#include <stdbool.h>

#include "runtime/loop.h"

struct request;
struct request_list;

struct deferred {
	struct loop *loop;
	struct request_list *list; /* of those that are kept */
	struct request_list *due;  /* where they go */
	bool waits;                /* one may wait for its instance now */
	struct timer timer, wait_timer;
	void (*changed)(void *arg);
	void *arg;
};

/* Both lists are borrowed; `changed` is called when one has become due. */
void deferred_init(struct deferred *deferred, struct loop *loop,
    struct request_list *list, struct request_list *due,
    void (*changed)(void *arg), void *arg);
void deferred_release(struct deferred *deferred);

/* A turn has ended, and some may have come to the list: they are kept a while. */
void deferred_end_turn(struct deferred *deferred);

/* The report that is to be made alone now; NULL: there is none. */
struct request *deferred_alone(struct deferred *deferred);

/* The report did not wait in vain: the next one may wait at once. */
void deferred_waited(struct deferred *deferred);

/* Whether `other` is carried with it, because it has the same instance. */
bool deferred_goes_along(
    const struct request *request, const struct request *other);

#endif
