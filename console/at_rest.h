/*
 * at_rest.h - whether what is looked at goes on by itself: where --follow ends.
 */
#ifndef CONSOLE_AT_REST_H
#define CONSOLE_AT_REST_H

#include <stdbool.h>

struct console;
struct error;
struct target;

/*
 * Whether an instance or a process has ended or waits for an operator, as it is
 * now.  False if it can't be said; a target that there is not is such an error.
 */
bool at_rest(struct console *console, const struct target *target,
    bool *is_at_rest, struct error *err);

/* Wait a little before the next look; false if nobody reads any more. */
bool at_rest_wait(const struct console *console);

#endif
