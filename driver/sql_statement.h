/*
 * sql_statement.h - the statement of a SQL task: from its arguments, to the
 * response.
 */
#ifndef DRIVER_SQL_STATEMENT_H
#define DRIVER_SQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/pg_params.h"

struct error;
struct json;
struct pg_result;

struct sql_statement {
	struct buf text;
	struct pg_params params;
	bool rows; /* it is wrapped, so that its rows come as JSON */
};

/* Read {"statement", "params"?, "rows"?}.  Release it in either case. */
bool sql_statement_init(struct sql_statement *statement,
    const struct json *args, struct error *err);
void sql_statement_release(struct sql_statement *statement);

/*
 * Write the response, {"rows": [...], "count": n}, from the statement's
 * result.  False if it is longer than `limit`.
 */
bool sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, size_t limit, struct buf *json);

#endif
