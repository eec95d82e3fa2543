/*
 * scheduler.h - the turns with one workspace.  In each turn the driver reports
 * what is over, asks for as many requests as can begin at once, and begins
 * those that came.
 *
 * The scheduler decides nothing about tasks.  It keeps the sessions with the
 * workspace, the driver's registration there and the moments of the next turn.
 */
#ifndef DRIVER_SCHEDULER_H
#define DRIVER_SCHEDULER_H

#include <stdbool.h>

struct buf;
struct config;
struct loop;
struct scheduler;
struct shares;
struct transports;

/* All pointers are borrowed for the scheduler's life. */
struct scheduler_options {
	struct loop *loop;
	const struct config *config;
	const struct transports *transports; /* those of the workspace */
	const char *conninfo;
	const char *label;     /* the name in log lines; "": no name */
	struct shares *shares; /* where its slots come from */
	bool persists;         /* even if the versions differ */

	/* The scheduler has left or given up; only scheduler_free() remains. */
	void (*ended)(void *arg);
	void *arg;
};

struct scheduler *scheduler_new(const struct scheduler_options *options);

/* NULL is allowed. */
void scheduler_free(struct scheduler *scheduler);

/*
 * Take no more requests, finish those under way, leave, and end.  After a
 * second call the scheduler finishes nothing.
 */
void scheduler_stop(struct scheduler *scheduler);

/* The configuration has other slots or queues: tell the workspace. */
void scheduler_register(struct scheduler *scheduler);

/* Log the counters, and send them to the workspace at once. */
void scheduler_tell_counters(struct scheduler *scheduler);

/* Add the state in a line: the connection, and how many slots are taken. */
void scheduler_status(const struct scheduler *scheduler, struct buf *line);

/* After its end: 0, or 1 if something was left undone. */
int scheduler_exit_code(const struct scheduler *scheduler);

#endif
