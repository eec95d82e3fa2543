/*
 * child.h - a program run beside us, with its three streams on the loop.
 *
 * It leads a process group of its own, so that a signal reaches all that it
 * started.  Its environment is the few variables that programs need to find
 * their way, and what the caller gives it.  It inherits no other variable of ours,
 * and no descriptor but the three streams.
 */
#ifndef RUNTIME_CHILD_H
#define RUNTIME_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct child;
struct error;
struct loop;

enum child_stream {
	CHILD_OUT,
	CHILD_ERR,
};

struct child_events {
	void (*output)(
	    void *arg, enum child_stream stream, const char *data, size_t len);

	/*
	 * It has ended and all that it wrote was handed over; `status` is that
	 * of waitpid().  Whoever else holds its streams is not waited for.
	 * The last event.
	 */
	void (*ended)(void *arg, int status);
};

/* Borrowed; only while it is started. */
struct child_program {
	char *const *argv;     /* found through PATH; NULL behind the last */
	char *const *env;      /* more variables, NAME=value; NULL: none */
	const char *directory; /* where it works; NULL: here */

	bool alone; /* when it ends the rest of its group is killed */
};

/*
 * Run it.  Events come from the loop.  NULL with `err` set if it could not be
 * run.
 */
struct child *child_start(struct loop *loop,
    const struct child_program *program, const struct child_events *events,
    void *arg, struct error *err);

/* Write to its standard input, when it takes it.  The data are copied. */
void child_write(struct child *child, const void *data, size_t len);

/* Nothing more will be written. */
void child_close_input(struct child *child);

/* Send `signal` to its group. */
void child_signal(struct child *child, int signal);

/*
 * Kill it if it still runs; nobody waits for its end.  No event comes after it.
 * NULL is allowed.
 */
void child_free(struct child *child);

#endif
