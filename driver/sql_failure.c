#include "driver/sql_failure.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "driver/outcome.h"
#include "driver/redact.h"

enum {
	TEXT_BYTES = 4096, /* of each text of an error, kept for the reader */
};

void
sql_failure_stopped(
    struct outcome *outcome, const char *why, int64_t timeout_ms)
{
	if (strcmp(why, "timeout") == 0)
		outcome_error(outcome, "timeout", NULL,
		    "the statement did not end within %lld ms",
		    (long long)timeout_ms);
	else
		outcome_error(
		    outcome, "cancelled", NULL, "the statement was cancelled");
}

/*
 * The beginning of what the server said, which may quote a value of any size;
 * NULL stays NULL.  Without secrets before it is cut, lest half of one is left.
 */
static char *
beginning(const char *text)
{
	struct buf buf;

	if (text == NULL)
		return NULL;
	buf_init(&buf, 0);
	buf_adds(&buf, text);
	redact_text(&buf);
	buf_truncate(&buf, TEXT_BYTES);
	return buf_take(&buf);
}

/* The workspace has judged it: the detail is the error.  False: it is not. */
static bool
judged(struct outcome *outcome, const struct error *err)
{
	struct json *record = NULL;
	struct error invalid = { 0 };
	bool is_record;

	if (strcmp(err->sqlstate, "WF012") != 0 || err->detail == NULL)
		return false;
	is_record =
	    json_parse(err->detail, strlen(err->detail), &record, &invalid) &&
	    json_type(record) == JSON_OBJECT;
	if (is_record) {
		outcome->event = OUTCOME_ERROR;
		buf_truncate(&outcome->body, 0);
		buf_adds(&outcome->body, err->detail);
	}
	json_free(record);
	error_release(&invalid);
	return is_record;
}

void
sql_failure_refused(struct outcome *outcome, const struct error *err)
{
	char *message = beginning(err->message), *text = beginning(err->detail),
	     *hint = beginning(err->hint);
	struct buf detail;

	if (!judged(outcome, err)) {
		buf_init(&detail, 0);
		buf_addc(&detail, '{');
		outcome_add_member(&detail, "sqlstate", err->sqlstate);
		outcome_add_member(&detail, "detail", text);
		outcome_add_member(&detail, "hint", hint);
		buf_addc(&detail, '}');
		outcome_error(outcome, "sql", detail.data, "%s", message);
		buf_release(&detail);
	}
	free(message);
	free(text);
	free(hint);
}
