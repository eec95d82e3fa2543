/*
 * deferred.h - reports that were not applied, and when they are made again.
 *
 * Somebody else held the instance, or the turn that carried the report failed.
 * Most of these reports are made again with others after a moment.  A report
 * that was not applied several times is made alone.  Then it may wait for its
 * instance, and it cannot harm other reports in the same session.
 */
#ifndef DRIVER_DEFERRED_H
#define DRIVER_DEFERRED_H

#include <stdbool.h>

#include "runtime/loop.h"

struct request;
struct request_list;

struct deferred {
	struct loop *loop;
	struct request_list *list; /* of the requests that are kept */
	struct request_list *due;  /* the list of due ones */
	bool waits;                /* a report may wait for its instance */
	struct timer timer, wait_timer;
	void (*changed)(void *arg);
	void *arg;
};

/*
 * Both lists are borrowed.  `changed` is called when a report has become due.
 */
void deferred_init(struct deferred *deferred, struct loop *loop,
    struct request_list *list, struct request_list *due,
    void (*changed)(void *arg), void *arg);
void deferred_release(struct deferred *deferred);

/*
 * A turn has ended, and may have added reports to the list: set their pauses.
 */
void deferred_end_turn(struct deferred *deferred);

/* The report that is to be made alone now; NULL: there is none. */
struct request *deferred_alone(struct deferred *deferred);

/* The report did not wait in vain: the next one may wait at once. */
void deferred_waited(struct deferred *deferred);

/* Whether a turn with `request` also carries `other`, of the same instance. */
bool deferred_goes_along(
    const struct request *request, const struct request *other);

#endif
