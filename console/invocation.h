/*
 * invocation.h - a command line, read by the command table.
 */
#ifndef CONSOLE_INVOCATION_H
#define CONSOLE_INVOCATION_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct error;

/* The value that was given for a placeholder or an option, by its name. */
struct given {
	const char *name;
	const char *type;  /* NULL: a flag */
	const char *value; /* borrowed from argv; "true" for a flag */
	bool is_operand;
};

struct invocation {
	const struct command *command;
	struct given *given;
	size_t given_count;
};

/*
 * Read the command line by the table.  False is a usage error.  `--help` and
 * `--version` become the commands of that name.
 */
bool invocation_parse(
    struct invocation *invocation, int argc, char **argv, struct error *err);

/*
 * Add a value that the command made itself, for its SQL; drop the last
 * `count` of them.  All strings stay the caller's.
 */
void invocation_add(struct invocation *invocation, const char *name,
    const char *type, const char *value);
void invocation_drop(struct invocation *invocation, size_t count);

void invocation_release(struct invocation *invocation);

/* The last value given for `name` in any case of letters, or NULL. */
const char *invocation_value(
    const struct invocation *invocation, const char *name);

/* The next value for `name` at or after `*at`, which moves on, or NULL. */
const char *invocation_next(
    const struct invocation *invocation, const char *name, size_t *at);

#endif
