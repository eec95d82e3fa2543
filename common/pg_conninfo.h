/*
 * pg_conninfo.h - reads a connection string before it is used.  The string is
 * the `dbname` of struct pg_target: keywords and values, a URI, or the mere
 * name of a database.
 */
#ifndef COMMON_PG_CONNINFO_H
#define COMMON_PG_CONNINFO_H

#include <stdbool.h>

struct error;

/* Whether libpq can read it, and knows its keywords. */
bool pg_conninfo_check(const char *conninfo, struct error *err);

/*
 * The value of a keyword, for the caller to free(); NULL if the string has
 * none, or cannot be read.  The second function then looks at the environment
 * and at libpq's defaults.
 */
char *pg_conninfo_get(const char *conninfo, const char *keyword);
char *pg_conninfo_get_any(const char *conninfo, const char *keyword);

#endif
