#include "driver/transport/sql/statement.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/json.h"
#include "common/pg.h"

/* Bytes that people put at the end, or between statements. */
#define TRIMMED "; \t\r\n"

enum { MOST_SECONDS = 1000000000 }; /* of a time limit */

/* Words ------------------------------------------------------------------- */

/* The first words of a query, and words that make it a change. */
static const char *const queries[] = { "select", "table", "values", "with" };
static const char *const changes[] = { "delete", "insert", "into", "merge",
	"update" };

static bool
is_one_of(const char *word, size_t len, const char *const *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(words[i]) == len &&
		    strncasecmp(words[i], word, len) == 0)
			return true;
	return false;
}

static size_t
word_length(const char *text)
{
	size_t len = 0;

	while (text[len] == '_' || text[len] == '$' ||
	       isalnum((unsigned char)text[len]) || (text[len] & 0x80) != 0)
		len++;
	return len;
}

/*
 * The place behind a comment, which may hold others; the end if it is not
 * closed.
 */
static const char *
skip_comment(const char *text)
{
	int depth = 0;

	do {
		if (strncmp(text, "/*", 2) == 0) {
			depth++;
			text += 2;
		} else if (strncmp(text, "*/", 2) == 0) {
			depth--;
			text += 2;
		} else if (*text != '\0') {
			text++;
		}
	} while (depth > 0 && *text != '\0');
	return text;
}

/* Skip blanks, comments and parentheses before the first word. */
static const char *
skip_to_word(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n\f\v(");
		if (strncmp(text, "--", 2) == 0)
			text += strcspn(text, "\r\n");
		else if (strncmp(text, "/*", 2) == 0)
			text = skip_comment(text);
		else
			return text;
	}
}

/*
 * Whether the text is surely a query that changes nothing by itself, so that it
 * can stand in the FROM of another.  A word in a string or a name only makes us
 * too careful.
 */
static bool
is_query(const char *text)
{
	size_t len;

	text = skip_to_word(text);
	if (!is_one_of(text, word_length(text), queries,
	        sizeof(queries) / sizeof(queries[0])))
		return false;
	for (; *text != '\0'; text += len > 0 ? len : 1) {
		len = word_length(text);
		/* a comment may follow the end, and would hide our own text */
		if (*text == ';' && text[strspn(text, TRIMMED)] != '\0')
			return false;
		if (is_one_of(text, len, changes,
		        sizeof(changes) / sizeof(changes[0])))
			return false;
	}
	return true;
}

static bool
is_word(const char *text, const char *word)
{
	return is_one_of(text, word_length(text), &word, 1);
}

bool
sql_statement_is_control(const struct sql_statement *statement)
{
	static const char *const controls[] = { "abort", "begin", "commit",
		"end", "release", "rollback", "savepoint", "start" };
	const char *text = skip_to_word(statement->source);

	while (*text == ';') /* an empty statement before it */
		text = skip_to_word(text + 1);
	if (is_word(text, "prepare"))
		return is_word(
		    skip_to_word(text + strlen("prepare")), "transaction");
	return is_one_of(text, word_length(text), controls,
	    sizeof(controls) / sizeof(controls[0]));
}

/* The text ---------------------------------------------------------------- */

/* The newline ends a comment at the end of the statement. */
static void
add_trimmed(struct buf *buf, const char *text)
{
	size_t len = strlen(text);

	while (len > 0 && strchr(TRIMMED, text[len - 1]) != NULL)
		len--;
	buf_add(buf, text, len);
	buf_addc(buf, '\n');
}

/* The call that ends the query; the rows of statements before it count, too. */
static void
sql_too_large(struct buf *buf, int64_t left, int64_t limit)
{
	buf_addf(buf, "wf.sql_too_large(%lld%s)", (long long)limit,
	    left < limit ? ", true" : "");
}

/*
 * A row that is too large is refused before it is made JSON, as far as its size
 * in memory tells: that is never more than thirty times the size as JSON.  The
 * sum goes from row to row, so no row behind the first one that is too much is
 * asked for.  But a statement that changes something is carried out as a whole
 * before.
 */
static void
add_rows(struct buf *buf, const char *text, int64_t left, int64_t limit)
{
	long long most = left, memory = 32 * (most + 256);

	buf_adds(buf, "with q as (");
	add_trimmed(buf, text);
	buf_addf(buf,
	    ") select '[' || coalesce(string_agg(r.item, ','), '') || ']',"
	    " count(*)"
	    " from (select j.item,"
	    " sum(octet_length(j.item) + 1) over (rows unbounded preceding)"
	    " as bytes"
	    " from (select case when pg_column_size(q.*) > %lld then ",
	    memory);
	sql_too_large(buf, left, limit);
	buf_addf(buf,
	    "::text else to_json(q.*)::text end as item from q offset 0) j) r"
	    " where case when r.bytes < %lld then true else ",
	    most);
	sql_too_large(buf, left, limit);
	buf_adds(buf, " end");
}

/* All rows are made in full, but do not leave the server. */
static void
add_count(struct buf *buf, const char *text)
{
	buf_adds(buf, "select '[]', count(pg_column_size(q.*)) from (");
	add_trimmed(buf, text);
	buf_adds(buf, ") q");
}

void
sql_statement_limit(
    struct sql_statement *statement, int64_t left, int64_t limit)
{
	const char *text = statement->source;

	buf_truncate(&statement->text, 0);
	statement->wrapped = statement->rows || is_query(text);
	if (statement->rows)
		add_rows(&statement->text, text, left > 0 ? left : 0, limit);
	else if (statement->wrapped)
		add_count(&statement->text, text);
	else
		buf_adds(&statement->text, text);
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

/* A number of seconds, in milliseconds; 0 if it is no number or not above 0. */
static int64_t
read_seconds(const struct json *value)
{
	char *text;
	double seconds;

	if (json_type(value) != JSON_INT && json_type(value) != JSON_NUMBER)
		return 0;
	text = json_text(value);
	seconds = strtod(text, NULL);
	free(text);
	if (seconds > MOST_SECONDS)
		seconds = MOST_SECONDS;
	return seconds > 0 ? (int64_t)(seconds * 1000 + 0.5) : 0;
}

bool
sql_statement_init(struct sql_statement *statement, const struct json *args,
    int64_t limit, struct error *err)
{
	const struct json *params = json_get(args, "params");
	size_t i;

	*statement = (struct sql_statement){
		.source = json_string(json_get(args, "statement")),
		.rows = json_bool(json_get(args, "rows")),
		.line = (int)json_int(json_get(args, "line")),
		.timeout_ms = read_seconds(json_get(args, "timeout")),
	};
	buf_init(&statement->text, 0);
	pg_params_init(&statement->params);
	if (statement->source == NULL) {
		error_set(err, "statement must be a string");
		return false;
	}
	if (params != NULL && json_type(params) != JSON_LIST) {
		error_set(err, "params must be a list");
		return false;
	}
	sql_statement_limit(statement, limit, limit);
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

size_t
sql_statement_respond(const struct sql_statement *statement,
    const struct pg_result *result, struct buf *json)
{
	const char *rows = "[]";
	long long count = pg_affected(result);

	if (statement->wrapped) {
		rows = pg_value(result, 0, 0);
		count = pg_value_bigint(result, 0, 1);
	}
	buf_adds(json, "{\"rows\":");
	buf_adds(json, rows);
	buf_addf(json, ",\"count\":%lld}", count);
	return strlen(rows);
}
