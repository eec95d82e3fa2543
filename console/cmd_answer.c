/*
 * cmd_answer.c - a person answers a form: from the command line, from a file,
 * or field by field at a terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/parameters.h"
#include "console/text.h"

static const char fields_sql[] =
    "select field, type, title, description, required, standard,"
    "       (select string_agg(c #>> '{}', ', ' order by k)"
    "          from jsonb_array_elements(choices) with ordinality x (c, k))"
    "  from wf.input_fields(:input) order by not required, field";
static const char check_sql[] =
    "select wf.answer_check(:input, :payload, :field)";

enum { FIELD, TYPE, TITLE, DESCRIPTION, REQUIRED, STANDARD, CHOICES };

/* The question: "Approve it [approve], true or false (default true): " */
static char *
describe(const struct pg_result *fields, int row)
{
	const char *title = pg_value(fields, row, TITLE);
	const char *type = pg_value(fields, row, TYPE);
	const char *standard = pg_value(fields, row, STANDARD);
	const char *choices = pg_value(fields, row, CHOICES);
	struct buf text;

	buf_init(&text, 0);
	if (pg_value(fields, row, DESCRIPTION) != NULL) {
		text_add_safe(&text, pg_value(fields, row, DESCRIPTION), "");
		buf_adds(&text, "\n");
	}
	if (title != NULL) {
		text_add_safe(&text, title, "");
		buf_adds(&text, " [");
	}
	text_add_safe(&text, pg_value(fields, row, FIELD), "");
	buf_adds(&text, title != NULL ? "], " : ", ");
	if (choices != NULL) {
		buf_adds(&text, "one of ");
		text_add_safe(&text, choices, "");
	} else if (strcmp(type, "boolean") == 0) {
		buf_adds(&text, "yes or no");
	} else if (strcmp(type, "array") == 0) {
		buf_adds(&text, "values with commas");
	} else {
		text_add_safe(&text, type, "");
	}
	if (standard != NULL) {
		buf_adds(&text, " (default ");
		text_add_safe(&text, standard, "");
		buf_adds(&text, ")");
	} else if (!pg_value_bool(fields, row, REQUIRED)) {
		buf_adds(&text, " (may be left out)");
	}
	buf_adds(&text, ": ");
	return buf_take(&text);
}

/* JSON as it is, anything else as a string. */
static void
add_value(struct buf *json, const char *text, size_t len)
{
	struct error ignored = { 0 };
	struct json *value;

	if (json_parse(text, len, &value, &ignored)) {
		buf_add(json, text, len);
		json_free(value);
	} else {
		json_add_string(json, text, len);
	}
	error_release(&ignored);
}

static void
add_list(struct buf *json, const char *text)
{
	const char *open = "[";
	size_t len;

	for (;; text += len + 1) {
		text += strspn(text, " ");
		len = strcspn(text, ",");
		buf_adds(json, open);
		add_value(json, text, len);
		open = ",";
		if (text[len] == '\0')
			break;
	}
	buf_adds(json, "]");
}

/* Add what a person typed, as a value for a field of this type. */
static void
add_entry(struct buf *json, const char *type, const char *text)
{
	if (strcmp(type, "string") == 0)
		json_add_string(json, text, strlen(text));
	else if (strcmp(type, "boolean") == 0 &&
	         (strcmp(text, "yes") == 0 || strcmp(text, "y") == 0))
		buf_adds(json, "true");
	else if (strcmp(type, "boolean") == 0 &&
	         (strcmp(text, "no") == 0 || strcmp(text, "n") == 0))
		buf_adds(json, "false");
	else if (strcmp(type, "array") == 0 && text[0] != '[')
		add_list(json, text);
	else
		add_value(json, text, strlen(text));
}

/* What the workspace objects to in the entry of one field; NULL: nothing. */
static bool
check_entry(struct console *console, const char *field, const char *payload,
    char **flaw, struct error *err)
{
	struct pg_result *result;

	invocation_add(&console->invocation, "payload", "JSON", payload);
	invocation_add(&console->invocation, "field", "TEXT", field);
	result = console_query(console, check_sql, err);
	invocation_drop(&console->invocation, 2);
	if (result == NULL)
		return false;
	*flaw = pg_value(result, 0, 0) != NULL ? xstrdup(pg_value(result, 0, 0))
	                                       : NULL;
	pg_result_free(result);
	return true;
}

static void
say(const char *flaw)
{
	struct buf text;

	buf_init(&text, 0);
	text_add_safe(&text, flaw, "");
	fprintf(stderr, "%.*s\n", (int)text.len, text.data);
	buf_release(&text);
}

/*
 * Ask for one field until the entry is right.  Adds it to `answer`, as
 * `"name":value`.
 */
static bool
ask_field(struct console *console, const struct pg_result *fields, int row,
    struct buf *answer, struct error *err)
{
	const char *field = pg_value(fields, row, FIELD);
	char *question = describe(fields, row), *entry, *payload, *flaw = NULL;
	struct buf member;
	bool ok;

	do {
		free(flaw);
		flaw = NULL;
		entry = terminal_read(question);
		if (entry == NULL) {
			error_set(err, "nothing was answered");
			free(question);
			return false;
		}
		buf_init(&member, 0);
		if (entry[0] != '\0') {
			json_add_string(&member, field, strlen(field));
			buf_adds(&member, ":");
			add_entry(&member, pg_value(fields, row, TYPE), entry);
		}
		free(entry);
		payload = xasprintf("{%.*s}", (int)member.len, member.data);
		ok = check_entry(console, field, payload, &flaw, err);
		free(payload);
		if (flaw != NULL) {
			say(flaw);
		} else if (ok && member.len > 0) {
			buf_adds(answer, answer->len > 1 ? "," : "");
			buf_add(answer, member.data, member.len);
		}
		buf_release(&member);
	} while (ok && flaw != NULL);
	free(question);
	return ok;
}

/* The answer as JSON; NULL if no answer was given. */
static char *
ask(struct console *console, struct error *err)
{
	struct pg_result *fields = console_query(console, fields_sql, err);
	struct buf answer;
	bool ok = fields != NULL;
	int row;

	buf_init(&answer, 0);
	buf_adds(&answer, "{");
	for (row = 0; ok && row < pg_rows(fields); row++)
		ok = ask_field(console, fields, row, &answer, err);
	buf_adds(&answer, "}");
	pg_result_free(fields);
	if (ok)
		return buf_take(&answer);
	buf_release(&answer);
	return NULL;
}

enum exit_code
cmd_answer(struct console *console, struct error *err)
{
	const char *path = console_value(console, "file");
	enum exit_code code;
	struct buf content;
	char *answer;

	if (console_value(console, "payload") != NULL)
		return console_run_sql(console, err);
	if (path == NULL && !terminal_can_ask()) {
		error_set(err, "there is no answer");
		error_hint(err, "Give --payload or --file, or answer at a "
		                "terminal, field by field.");
		return EXIT_USAGE;
	}
	if (path != NULL) {
		buf_init(&content, PARAMETERS_FILE_MAX);
		path = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
		answer = parameters_read_file(path, &content, err)
		             ? buf_take(&content)
		             : NULL;
	} else {
		answer = ask(console, err);
	}
	if (answer == NULL)
		return EXIT_FAILED;
	invocation_add(&console->invocation, "payload", "JSON", answer);
	code = console_run_sql(console, err);
	invocation_drop(&console->invocation, 1);
	free(answer);
	return code;
}
