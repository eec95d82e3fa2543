/*
 * child.h - a program that we run, with its three streams on the loop.
 *
 * The program leads a process group of its own, so that a signal reaches all
 * processes that it started.  Its environment is the few variables that
 * programs need, and those that the caller gives it.  It inherits no other
 * variable of ours, and no descriptor but the three streams.
 */
#ifndef RUNTIME_CHILD_H
#define RUNTIME_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/pipes.h"

struct child;
struct error;
struct loop;

struct child_events {
	pipes_output_fn *output;

	/*
	 * The program has ended, and all its output was handed over; `status`
	 * is that of waitpid().  Other processes that hold its streams are not
	 * waited for.  This is the last event.
	 */
	void (*ended)(void *arg, int status);
};

/* Borrowed during child_start() only. */
struct child_program {
	char *const *argv;     /* found through PATH; NULL behind the last */
	char *const *env;      /* more variables, NAME=value; NULL: no more */
	const char *directory; /* its directory; NULL: ours */

	bool alone; /* at its end the rest of its group is killed */
};

/*
 * Run the program.  Events come from the loop.  NULL with `err` set if it could
 * not be run.
 */
struct child *child_start(struct loop *loop,
    const struct child_program *program, const struct child_events *events,
    void *arg, struct error *err);

/* Write to its standard input when there is room.  The data are copied. */
void child_write(struct child *child, const void *data, size_t len);

/* Close its input when all is written. */
void child_close_input(struct child *child);

/* Send `signal` to its group. */
void child_signal(struct child *child, int signal);

/*
 * Kill the program if it still runs, without waiting for its end.  No event
 * comes after this.  NULL is allowed.
 */
void child_free(struct child *child);

/*
 * The variables in `given` (NULL: none), and the few variables of ours that all
 * programs get.
 */
char **child_environment(char *const *given);
void child_environment_free(char **list);

#endif
