#include "driver/sql_statement.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/pg.h"

/* Without the semicolon that people put at the end. */
static size_t
trimmed_length(const char *text)
{
	size_t len = strlen(text);

	while (len > 0 && strchr("; \t\r\n", text[len - 1]) != NULL)
		len--;
	return len;
}

/* The newline ends a comment that the statement may end with. */
static void
add_text(struct sql_statement *statement, const char *text)
{
	struct buf *buf = &statement->text;

	if (!statement->rows) {
		buf_adds(buf, text);
		return;
	}
	buf_adds(buf, "with q as (");
	buf_add(buf, text, trimmed_length(text));
	buf_adds(buf,
	    "\n) select coalesce(jsonb_agg(to_jsonb(q)), '[]'), count(*) "
	    "from q");
}

/* Scalars as their text, the rest as JSON; the server knows the types. */
static void
add_param(struct pg_params *params, const struct json *value)
{
	char *text;

	switch (json_type(value)) {
	case JSON_NULL:
		pg_params_add(params, NULL);
		break;
	case JSON_STRING:
		pg_params_add(params, json_string(value));
		break;
	default:
		text = json_text(value);
		pg_params_add(params, text);
		free(text);
	}
}

bool
sql_statement_init(
    struct sql_statement *statement, const struct json *args, struct error *err)
{
	const char *text = json_string(json_get(args, "statement"));
	const struct json *params = json_get(args, "params");
	size_t i;

	buf_init(&statement->text, 0);
	pg_params_init(&statement->params);
	statement->rows = json_bool(json_get(args, "rows"));
	if (text == NULL) {
		error_set(err, "statement must be a string");
		return false;
	}
	if (params != NULL && json_type(params) != JSON_LIST) {
		error_set(err, "params must be a list");
		return false;
	}
	add_text(statement, text);
	for (i = 0; i < json_length(params); i++)
		add_param(&statement->params, json_at(params, i));
	return true;
}

void
sql_statement_release(struct sql_statement *statement)
{
	buf_release(&statement->text);
	pg_params_release(&statement->params);
}

bool
sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, size_t limit, struct buf *json)
{
	const char *rows = "[]";
	long long count = pg_affected(result);

	if (statement->rows) {
		rows = pg_value(result, 0, 0);
		count = pg_value_bigint(result, 0, 1);
	}
	buf_addf(json, "{\"rows\":%s,\"count\":%lld}", rows, count);
	return json->len <= limit;
}
