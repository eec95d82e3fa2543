/*
 * sql_statement.h - the statement of a SQL task: from its arguments, to the
 * response.
 *
 * Rows are made JSON and counted by the server, in a query around the
 * statement: it stops at the first row that is too much, and the driver gets
 * one row, never a longer one than the limit.  Of a query whose rows nobody
 * wants it gets their number.
 */
#ifndef DRIVER_SQL_STATEMENT_H
#define DRIVER_SQL_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/pg_params.h"

struct error;
struct json;
struct pg_result;

struct sql_statement {
	struct buf text;
	struct pg_params params;
	bool wrapped; /* false: as it was written, its rows are not wanted */
};

/*
 * Read {"statement", "params"?, "rows"?}; the rows have at most `limit` bytes
 * as JSON.  Release it in either case.
 */
bool sql_statement_init(struct sql_statement *statement,
    const struct json *args, int64_t limit, struct error *err);
void sql_statement_release(struct sql_statement *statement);

/*
 * Write the response, {"rows": [...], "count": n}, from the statement's
 * result.
 */
void sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, struct buf *json);

#endif
