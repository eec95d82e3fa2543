/*
 * statement.h - the statement of a SQL task: from its arguments, to the
 * response.
 *
 * An atomic has several of them, whose rows share the room of one response.
 *
 * Rows are made JSON and counted by the server, in a query around the
 * statement: it stops at the first row that is too much, and the driver gets
 * one row, never a longer one than the limit.  Of a query whose rows nobody
 * wants it gets their number.
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
	const char *source; /* as it was written: belongs to its arguments */
	bool rows;          /* they are wanted */
	struct buf text;
	struct pg_params params;
	bool wrapped; /* false: as it was written, its rows are not wanted */
	int line;     /* of an atomic: where it stands in the workflow */
	int64_t timeout_ms; /* of an atomic; 0: it has none of its own */
};

/*
 * Read {"statement", "params"?, "rows"?}, in an atomic with "line" and
 * "timeout" (in seconds); the rows have at most `limit` bytes as JSON.
 * `args` has to outlive it.  Release it in either case.
 */
bool sql_statement_init(struct sql_statement *statement,
    const struct json *args, int64_t limit, struct error *err);

/* Leave its rows less room: `left` of `limit` bytes. */
void sql_statement_limit(
    struct sql_statement *statement, int64_t left, int64_t limit);

/* Whether it begins or ends a transaction, or a part of one. */
bool sql_statement_is_control(const struct sql_statement *statement);

void sql_statement_release(struct sql_statement *statement);

/*
 * Write the response, {"rows": [...], "count": n}, from the statement's
 * result; how many bytes its rows have.
 */
size_t sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, struct buf *json);

#endif
