/*
 * grant.h - who may use which secret, and where it may go: the lines of
 * secrets.grants, of four words each.
 *
 *     SECRET WORKFLOW TASK_TYPE DESTINATION
 *
 * A * stands for every word.  A DESTINATION is the server or program that gets
 * a request, as its transport says: https://HOST:PORT, http://HOST:PORT,
 * ssh://HOST:PORT or exec://PROGRAM.  The usual port of HTTP is left out, and
 * so is the port of SSH if the task gives none.  "*." in front of a HOST stands
 * for every host below it.
 */
#ifndef DRIVER_SECRET_GRANT_H
#define DRIVER_SECRET_GRANT_H

#include <stdbool.h>
#include <stddef.h>

struct config_list;
struct error;

/* The use that is to be checked.  Borrowed. */
struct secret_use {
	const char *secret; /* the name of its file */
	const char *workflow;
	const char *type;
	const char *destination; /* NULL: it is not known yet */
};

/* Whether each line is a grant.  Otherwise false, with `err` set. */
bool secret_grants_check(const struct config_list *grants, struct error *err);

/* Whether a line grants that use.  Otherwise false, with `err` set. */
bool secret_grants_allow(const struct config_list *grants,
    const struct secret_use *use, struct error *err);

/* Whether `text`, of `len` bytes, is a DESTINATION. */
bool secret_destination_check(const char *text, size_t len);

/* Whether the DESTINATION `text`, of `len` bytes, includes `destination`. */
bool secret_destination_holds(
    const char *text, size_t len, const char *destination);

#endif
