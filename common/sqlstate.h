/*
 * sqlstate.h - names of the SQLSTATEs that our programs tell apart.
 *
 * docs/errors.md lists those of the workspace.
 */
#ifndef COMMON_SQLSTATE_H
#define COMMON_SQLSTATE_H

#include <stdbool.h>
#include <string.h>

/* PostgreSQL's; we also set the first two where libpq has none. */
#define SQLSTATE_NO_CONNECTION "08001"
#define SQLSTATE_CONNECTION_LOST "08006"
#define SQLSTATE_NOT_SUPPORTED "0A000"
#define SQLSTATE_READ_ONLY "25006"
#define SQLSTATE_NO_SCHEMA "3F000"
#define SQLSTATE_NO_RIGHT "42501"
#define SQLSTATE_NO_FUNCTION "42883"
#define SQLSTATE_CANCELLED "57014"
#define SQLSTATE_SESSION_ENDED "57P01"

/* The workspace's */
#define SQLSTATE_NOT_FOUND "WF003"
#define SQLSTATE_ISOLATION "WF006"
#define SQLSTATE_STALE_TOKEN "WF009"
#define SQLSTATE_DRIVER_GONE "WF010"
#define SQLSTATE_OTHER_VERSION "WF011"
#define SQLSTATE_TASK_FAILED "WF012"
#define SQLSTATE_UPGRADED "WF013"
#define SQLSTATE_OTHER_LOGIN "WF014"
#define SQLSTATE_FOREIGN_MARK "WF015"

static inline bool
sqlstate_is(const char *sqlstate, const char *which)
{
	return strcmp(sqlstate, which) == 0;
}

/* No session was made, or the server has ended it: 08xxx and 57Pxx. */
static inline bool
sqlstate_is_no_session(const char *sqlstate)
{
	return strncmp(sqlstate, "08", 2) == 0 ||
	       strncmp(sqlstate, "57P", 3) == 0;
}

#endif
