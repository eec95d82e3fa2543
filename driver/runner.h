/*
 * runner.h - the requests that this driver has.  The runner begins them, stops
 * them and takes their outcomes.  It keeps the report of each request until the
 * workspace has answered it.
 *
 * The runner never talks to the workspace; the scheduler carries the reports
 * there.
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
	struct metrics *metrics; /* the runner's counters; borrowed */
	struct request_table table;
	struct request_list reports;  /* due, but no turn carries them */
	struct request_list deferred; /* to be reported again later */
	bool draining;
	bool fresh; /* some output was not sent yet */

	/* Called for a new report, a free slot, or the first output to send. */
	void (*changed)(void *arg);
	void *arg;
};

/* `label` is the workspace's name in log lines.  All pointers are borrowed. */
void runner_init(struct runner *runner, const struct transports *transports,
    const char *label, struct metrics *metrics, void (*changed)(void *arg),
    void *arg);

/* Stop and free all requests. */
void runner_release(struct runner *runner);

/*
 * Take a request that poll gave: begin it, or first acknowledge it.  Returns
 * whether the request takes a slot.
 */
bool runner_take(struct runner *runner, const struct workspace_row *row);

/* Stop the request with this token, if the runner still has it. */
void runner_stop(struct runner *runner, const char *token);

/*
 * Take the workspace's answer to the report with this token.  If the workspace
 * was too busy to apply the report, the runner keeps the report.
 */
void runner_answer(
    struct runner *runner, const char *token, const char *answer);

/* Begin no more requests; hand back those that have not begun. */
void runner_drain(struct runner *runner);

/*
 * Stop all running requests and forget them without a report.  A request that
 * has ended may still be reported.
 */
void runner_abandon(struct runner *runner);

#endif
