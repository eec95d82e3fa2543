/*
 * sql_failure.h - outcomes of SQL tasks that failed.
 */
#ifndef DRIVER_SQL_FAILURE_H
#define DRIVER_SQL_FAILURE_H

#include <stdint.h>

struct error;
struct outcome;

/* It was stopped: `why` is "timeout" (after `timeout_ms`) or "cancelled". */
void sql_failure_stopped(
    struct outcome *outcome, const char *why, int64_t timeout_ms);

/*
 * The database refused it: kind sql; or the workspace did, and says as what
 * (WF012).  Of longer texts the beginning is kept.
 */
void sql_failure_refused(struct outcome *outcome, const struct error *err);

#endif
