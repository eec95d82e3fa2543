/*
 * runner.h - the requests that this driver has: it begins them, stops them,
 * takes their outcomes and keeps a report of each until it is answered.
 *
 * It never talks to the workspace; the scheduler carries the reports there.
 */
#ifndef DRIVER_RUNNER_H
#define DRIVER_RUNNER_H

#include <stdbool.h>

#include "driver/request.h"

struct metrics;
struct transports;
struct workspace_row;

struct runner {
	const struct transports *transports;
	struct metrics *metrics; /* what it counts; borrowed */
	struct request_table table;
	struct request_list reports;  /* due, and not on their way */
	struct request_list deferred; /* to be made again after a while */
	bool draining;
	bool fresh; /* there is output that was not sent */

	/* There is a new report, a free slot, or output after there was none. */
	void (*changed)(void *arg);
	void *arg;
};

/* `label` is the workspace's name in log lines; it is borrowed, as all pointers are. */
void runner_init(struct runner *runner, const struct transports *transports,
    const char *label, struct metrics *metrics, void (*changed)(void *arg),
    void *arg);

/* Stops whatever runs. */
void runner_release(struct runner *runner);

/*
 * A request that poll gave: begin it, or first acknowledge it.  Whether it
 * takes a slot.
 */
bool runner_take(struct runner *runner, const struct workspace_row *row);

/* The workspace wants the request of this token stopped.  It may be gone. */
void runner_stop(struct runner *runner, const char *token);

/*
 * The workspace's answer to the report of this token, which is on its way.  One
 * that the workspace is too busy for is kept.
 */
void runner_answer(
    struct runner *runner, const char *token, const char *answer);

/* Begin nothing more; hand back what was not begun. */
void runner_drain(struct runner *runner);

/*
 * Stop all running requests and forget them without a report; a request that
 * has ended may still be reported.
 */
void runner_abandon(struct runner *runner);

#endif
