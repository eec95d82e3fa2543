/*
 * statement.h - the statement of a SQL task: from its arguments to the
 * response.
 *
 * An atomic has several statements, whose rows share the room of one response.
 *
 * The server makes rows JSON and counts their bytes, in a query around the
 * statement.  That query stops at the first row that is too much.  The driver
 * gets one row, never longer than the limit.  If nobody wants the rows of a
 * query, the driver gets only their number.
 */
#ifndef DRIVER_TRANSPORT_SQL_STATEMENT_H
#define DRIVER_TRANSPORT_SQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/pg_params.h"

struct error;
struct json;
struct pg_result;

struct sql_statement {
	const char *source; /* as it was written; belongs to its args */
	bool rows;          /* rows are wanted */
	struct buf text;
	struct pg_params params;
	bool wrapped;       /* false: sent as written; no rows are wanted */
	int line;           /* of an atomic: its line in the workflow */
	int64_t timeout_ms; /* of an atomic; 0: no limit of its own */
};

/*
 * Read {"statement", "params"?, "rows"?}, in an atomic also "line" and
 * "timeout" (in seconds).  The rows may have at most `limit` bytes as JSON.
 * `args` must outlive the statement.  Release it even after a failure.
 */
bool sql_statement_init(struct sql_statement *statement,
    const struct json *args, int64_t limit, struct error *err);

/* Leave the statement's rows less room: `left` of `limit` bytes. */
void sql_statement_limit(
    struct sql_statement *statement, int64_t left, int64_t limit);

/* Whether the statement begins or ends a transaction, or a part of one. */
bool sql_statement_is_control(const struct sql_statement *statement);

void sql_statement_release(struct sql_statement *statement);

/*
 * Write the response, {"rows": [...], "count": n}, from the statement's result.
 * Returns how many bytes its rows have.
 */
size_t sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, struct buf *json);

#endif
