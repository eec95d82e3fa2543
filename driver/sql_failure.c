#include "driver/sql_failure.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/outcome.h"
#include "driver/redact.h"

enum {
	TEXT_BYTES = 4096, /* of each text of an error, kept for the reader */
};

/* How messages begin, for the caller to free(). */
static char *
place_text(const struct sql_place *place)
{
	if (place->number == 0)
		return xstrdup("");
	return xasprintf("statement %zu of %zu (line %d): ", place->number,
	    place->count, place->line);
}

void
sql_failure_stopped(struct outcome *outcome, const struct sql_place *place,
    const char *why, int64_t timeout_ms)
{
	char *where = place_text(place);

	if (strcmp(why, "timeout") == 0)
		outcome_error(outcome, "timeout", NULL,
		    "%sthe statement did not end within %lld ms", where,
		    (long long)timeout_ms);
	else
		outcome_error(outcome, "cancelled", NULL,
		    "%sthe statement was cancelled", where);
	free(where);
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
judged(struct outcome *outcome, const char *where, const struct error *err)
{
	struct json *record = NULL;
	struct error invalid = { 0 };
	bool is_record;

	if (strcmp(err->sqlstate, "WF012") != 0 || err->detail == NULL)
		return false;
	is_record =
	    json_parse(err->detail, strlen(err->detail), &record, &invalid) &&
	    json_type(record) == JSON_OBJECT;
	if (is_record && *where != '\0') {
		outcome_error(outcome, json_string(json_get(record, "kind")),
		    NULL, "%s%s", where, err->message);
	} else if (is_record) {
		outcome->event = OUTCOME_ERROR;
		buf_truncate(&outcome->body, 0);
		buf_adds(&outcome->body, err->detail);
	}
	json_free(record);
	error_release(&invalid);
	return is_record;
}

void
sql_failure_refused(struct outcome *outcome, const struct sql_place *place,
    const struct error *err)
{
	char *message = beginning(err->message), *text = beginning(err->detail),
	     *hint = beginning(err->hint), *where = place_text(place);
	struct buf detail;

	if (!judged(outcome, where, err)) {
		buf_init(&detail, 0);
		buf_addc(&detail, '{');
		outcome_add_member(&detail, "sqlstate", err->sqlstate);
		outcome_add_member(&detail, "detail", text);
		outcome_add_member(&detail, "hint", hint);
		if (place->number > 0)
			buf_addf(&detail, ",\"statement\":%zu,\"line\":%d",
			    place->number, place->line);
		buf_addc(&detail, '}');
		outcome_error(
		    outcome, "sql", detail.data, "%s%s", where, message);
		buf_release(&detail);
	}
	free(message);
	free(text);
	free(hint);
	free(where);
}
