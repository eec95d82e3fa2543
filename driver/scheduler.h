/*
 * scheduler.h - turns: report what is over, ask for as much as can begin at
 * once, begin what came; again.
 *
 * It decides nothing about tasks.  It keeps the sessions with one workspace,
 * the driver's registration there and the moments of the next turn.
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
	const struct transports *transports; /* that the workspace has */
	const char *conninfo;
	const char *label;     /* the name in log lines; "": no name */
	struct shares *shares; /* where it gets its slots */
	bool persists;         /* even where it can't do any good */

	/* It has left, or given up; only scheduler_free() is left to do. */
	void (*ended)(void *arg);
	void *arg;
};

struct scheduler *scheduler_new(const struct scheduler_options *options);

/* NULL is allowed. */
void scheduler_free(struct scheduler *scheduler);

/*
 * Take no more, finish what is under way, leave, end.  Asked a second time:
 * finish nothing.
 */
void scheduler_stop(struct scheduler *scheduler);

/* The configuration has other slots or queues: let the workspace know. */
void scheduler_register(struct scheduler *scheduler);

/* Log what was counted, and let the workspace have it at once. */
void scheduler_tell_counters(struct scheduler *scheduler);

/* How it stands, in a line: whether connected, how much is under way. */
void scheduler_status(const struct scheduler *scheduler, struct buf *line);

/* After its end: 0, or 1 if something was left undone. */
int scheduler_exit_code(const struct scheduler *scheduler);

#endif
