/*
 * sql_failure.h - outcomes of SQL tasks that failed.
 */
#ifndef DRIVER_SQL_FAILURE_H
#define DRIVER_SQL_FAILURE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct outcome;

/* Which statement of an atomic it is about. */
struct sql_place {
	size_t number, count; /* number 0: it is about none, or no atomic */
	int line;
};

/* It was stopped: `why` is "timeout" (after `timeout_ms`) or "cancelled". */
void sql_failure_stopped(struct outcome *outcome, const struct sql_place *place,
    const char *why, int64_t timeout_ms);

/*
 * The database refused it: kind sql; or the workspace did, and says as what
 * (WF012).  Of longer texts the beginning is kept.
 */
void sql_failure_refused(struct outcome *outcome, const struct sql_place *place,
    const struct error *err);

#endif
