/*
 * session.h - the console's session, and what to say if it can't be had.
 */
#ifndef CONSOLE_SESSION_H
#define CONSOLE_SESSION_H

#include <stdbool.h>

#include "console/command.h"

struct console;
struct error;
struct pg_target;

/*
 * Open console->pg as the command line says: -d, -h, -p, -U, then the PG*
 * variables, then a local workspace that runs (local.h), then libpq's
 * defaults.  With NEEDS_WORKSPACE there is one that we can work with.
 */
bool session_open(struct console *console, enum needs needs, struct error *err);

/* The same with a target that the caller gives. */
bool session_open_target(struct console *console,
    const struct pg_target *target, enum needs needs, struct error *err);

/*
 * Begin a transaction.  If the console stops in the middle of it, by a signal
 * or with its machine, the server ends it: it holds nothing for long.
 */
bool session_begin(struct console *console, struct error *err);

/*
 * Where session_open would go.  The strings live as long as the console's
 * invocation; `*place` is the caller's to free() after the target.
 */
void session_target(
    const struct console *console, struct pg_target *target, char **place);

/* Add to an error of the database what a person can do about it. */
void session_explain(const struct console *console, struct error *err);

#endif
