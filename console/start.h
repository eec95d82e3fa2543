/*
 * start.h - start an instance and follow it.
 */
#ifndef CONSOLE_START_H
#define CONSOLE_START_H

#include <stdbool.h>
#include <stdint.h>

#include "console/command.h"

/*
 * Start `workflow` with the parameters, key, priority and tags of the
 * command line.
 */
bool start_instance(struct console *console, const char *workflow,
    int64_t *instance, struct error *err);

/* How to follow. */
enum follow {
	FOLLOW_QUIETLY, /* wait for the end, whatever it takes */
	FOLLOW_ALOUD,   /* print each move; stop when only an operator helps */
};

/*
 * Wait until the instance has ended, print its result and return the exit
 * code that stands for it.
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
