/*
 * start.h - start an instance and follow it.
 */
#ifndef CONSOLE_START_H
#define CONSOLE_START_H

#include <stdbool.h>
#include <stdint.h>

#include "console/command.h"

struct pg_result;

/*
 * Start `workflow` with the parameters, key, priority and tags of the
 * command line.
 */
bool start_instance(struct console *console, const char *workflow,
    int64_t *instance, struct error *err);

/*
 * --params and --param for `workflow`, as one JSON object for the caller to
 * free(); NULL on failure.
 */
char *start_parameters(
    const struct console *console, const char *workflow, struct error *err);

/*
 * The workflow that is meant, of those that compile_install has installed from
 * `path`: `wanted`, or the only one, or main.  For the caller to free(); NULL
 * if it does not exist.
 */
char *start_choose(const struct pg_result *installed, const char *path,
    const char *wanted, struct error *err);

/* The exit code for an instance's result; NULL: it has no result. */
enum exit_code start_exit_code(const char *result);

/* How to follow. */
enum follow {
	FOLLOW_QUIETLY, /* wait for the end; report when a person is needed */
	FOLLOW_ALOUD,   /* print moves; stop when only an operator can help */
};

/*
 * Wait until the instance has ended, at most as long as --timeout says.  Print
 * its result, and return the exit code for it.
 */
enum exit_code follow_instance(struct console *console, int64_t instance,
    enum follow how, struct error *err);

/*
 * Install `path`, start a workflow of it (NULL: main, or its only one) and
 * follow it aloud.  `run` on any session.
 */
enum exit_code run_file(struct console *console, const char *path,
    const char *workflow, struct error *err);

#endif
