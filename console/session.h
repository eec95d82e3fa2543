/*
 * session.h - the console's session, and what to say if it can't be opened.
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
 * variables, then a local workspace that runs (local.h), then libpq's defaults.
 * With NEEDS_WORKSPACE it also checks that this program can work with the
 * workspace.
 */
bool session_open(struct console *console, enum needs needs, struct error *err);

/* The same with a connection that the caller gives. */
bool session_open_target(struct console *console,
    const struct pg_target *target, enum needs needs, struct error *err);

/*
 * Begin a transaction.  If the console or its machine stops in the middle, the
 * server ends the transaction, so it holds no lock for long.
 */
bool session_begin(struct console *console, struct error *err);

/*
 * The target that session_open would use.  The strings live as long as the
 * console's invocation; `*place` is the caller's to free() after the target.
 */
void session_target(
    const struct console *console, struct pg_target *target, char **place);

/* Add to an error of the database a hint that says what a person can do. */
void session_explain(const struct console *console, struct error *err);

#endif
