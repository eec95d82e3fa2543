/*
 * error.h - what went wrong, for a person and for the database.
 *
 * A function that can fail at run time returns bool (or a pointer) and takes a
 * `struct error *` last.  True is success and leaves the error untouched; on
 * failure the error is set.  A function either reports an error or passes it on
 * to its caller, and never does both.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include "common/compiler.h"

/* Start with `struct error err = { 0 };`.  It owns its strings. */
struct error {
	char *message;    /* one line, lower case, no final stop; NULL: unset */
	char *hint;       /* what to do, a full sentence; may be NULL */
	char *detail;     /* more lines; may be NULL */
	char sqlstate[6]; /* "" when the error is not one of a database */
};

/*
 * Say what failed.  The former message is dropped, and its hint, detail and
 * SQLSTATE with it.  The arguments may come from `err` itself: error_set(err,
 * "a: %s", err->message).
 */
void error_set(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* As error_set, and add the meaning of errno behind a colon. */
void error_set_errno(struct error *err, const char *format, ...)
    PRINTF_LIKE(2, 3);

/*
 * Put words before the message and leave the rest: "cannot install", say,
 * turns "no rights" into "cannot install: no rights".
 */
void error_prefix(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

void error_hint(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);
void error_detail(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* `sqlstate` has five characters. */
void error_sqlstate(struct error *err, const char *sqlstate);

/* Release the strings; `err` may be used again. */
void error_release(struct error *err);

#endif
