/*
 * at_rest.h - whether an instance or process goes on by itself; if not,
 * --follow ends.
 */
#ifndef CONSOLE_AT_REST_H
#define CONSOLE_AT_REST_H

#include <stdbool.h>

struct console;
struct error;
struct target;

/*
 * Whether an instance or a process has ended or waits for an operator, as it is
 * now.  False if that can't be found out; a target that does not exist is such
 * an error.
 */
bool at_rest(struct console *console, const struct target *target,
    bool *is_at_rest, struct error *err);

/*
 * Wait a little before the next look; false if nobody reads the output any
 * more.
 */
bool at_rest_wait(const struct console *console);

#endif
