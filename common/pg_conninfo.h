/*
 * pg_conninfo.h - what a connection string says, before anybody connects.
 *
 * A string is what struct pg_target has in `dbname`: keywords and values, a
 * URI, or the mere name of a database.
 */
#ifndef COMMON_PG_CONNINFO_H
#define COMMON_PG_CONNINFO_H

#include <stdbool.h>

struct error;

/* Whether libpq can read it, and knows its keywords. */
bool pg_conninfo_check(const char *conninfo, struct error *err);

/*
 * The value of a keyword, for the caller to free(); NULL if it says none, or
 * cannot be read.  The second one asks the environment and libpq then.
 */
char *pg_conninfo_get(const char *conninfo, const char *keyword);
char *pg_conninfo_get_any(const char *conninfo, const char *keyword);

#endif
