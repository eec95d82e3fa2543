#include "console/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "console/output.h"

/* Digits of `text` up to `end`, above 0 and within int64_t. */
static bool
parse_number(const char *text, const char *end, int64_t *number)
{
	const char *at;

	*number = 0;
	for (at = text; at < end; at++) {
		if (*at < '0' || *at > '9' ||
		    *number > (INT64_MAX - (*at - '0')) / 10)
			return false;
		*number = *number * 10 + (*at - '0');
	}
	return *number > 0;
}

bool
value_bigint(const char *text, int64_t *number)
{
	return parse_number(text, text + strlen(text), number);
}

bool
target_parse(const char *text, struct target *target)
{
	const char *slash = text + strcspn(text, "/");

	target->process = 0;
	return parse_number(text, slash, &target->instance) &&
	       (*slash == '\0' || value_bigint(slash + 1, &target->process));
}

static bool
is_any(const char *text)
{
	return text[0] != '\0';
}

/* The server checks the rest: leap days, time zones. */
static bool
is_time(const char *text)
{
	static const char shape[] = "0000-00-00";
	size_t i;

	for (i = 0; shape[i] != '\0'; i++)
		if (shape[i] == '-' ? text[i] != '-'
		                    : !isdigit((unsigned char)text[i]))
			return false;
	return text[i] == '\0' || text[i] == 'T' || text[i] == ' ';
}

static bool
is_count(const char *text)
{
	int64_t number;

	return value_bigint(text, &number) && number <= INT32_MAX;
}

static bool
is_max(const char *text)
{
	return strcmp(text, "0") == 0 || strcmp(text, "none") == 0 ||
	       is_count(text);
}

/* The unit of an interval at the start of `text`; 0: no unit. */
static size_t
unit_length(const char *text)
{
	/* as PostgreSQL spells them, sorted */
	static const char *const units[] = { "c", "cent", "centuries",
		"century", "d", "day", "days", "dec", "decade", "decades",
		"decs", "h", "hour", "hours", "hr", "hrs", "m", "microsecond",
		"microseconds", "mil", "millennia", "millennium", "millisecond",
		"milliseconds", "mils", "min", "mins", "minute", "minutes",
		"mon", "mons", "month", "months", "ms", "msec", "msecs", "s",
		"sec", "second", "seconds", "secs", "us", "usec", "usecs", "w",
		"week", "weeks", "y", "year", "years", "yr", "yrs" };
	size_t len = 0, i;

	while (isalpha((unsigned char)text[len]))
		len++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == len &&
		    strncasecmp(units[i], text, len) == 0)
			return len;
	return 0;
}

/*
 * "10 min", "1h30m", "01:30:00", "0", or as ISO 8601 writes it.  The server
 * decides what it means in the end.
 */
static bool
is_duration(const char *text)
{
	size_t len;

	if (text[0] == 'P')
		return true;
	if (!isdigit((unsigned char)text[0]))
		return false;
	while (*text != '\0') {
		text += strspn(text, "0123456789.:");
		text += strspn(text, " ");
		if (*text == '\0')
			break;
		len = unit_length(text);
		if (len == 0)
			return false;
		text += len;
		text += strspn(text, " ");
		if (*text != '\0' && !isdigit((unsigned char)*text))
			return false;
	}
	return true;
}

/* One of the words, which are separated by spaces. */
static bool
is_word(const char *text, const char *words)
{
	size_t len = strlen(text);
	const char *at = words;

	for (; len > 0 && (at = strcasestr(at, text)) != NULL; at++)
		if ((at == words || at[-1] == ' ') &&
		    (at[len] == ' ' || at[len] == '\0') &&
		    strchr(text, ' ') == NULL)
			return true;
	return false;
}

/* A column of a list, or "-" and a column. */
static bool
is_order(const char *text)
{
	return is_word(text + (text[0] == '-'),
	    "elapsed ended failed instance key priority progress result "
	    "started state workflow");
}

static bool
is_result(const char *text)
{
	return is_word(text, "success warning error aborted");
}

static bool
is_drawing(const char *text)
{
	return strcmp(text, "dot") == 0 || strcmp(text, "mermaid") == 0 ||
	       strcmp(text, "svg") == 0;
}

static bool
is_format(const char *text)
{
	return output_format_find(text) != NULL;
}

static bool
is_instance(const char *text)
{
	int64_t number;

	return value_bigint(text, &number);
}

static bool
is_integer(const char *text)
{
	int64_t number;

	return strcmp(text, "0") == 0 || is_count(text) ||
	       (text[0] == '-' && value_bigint(text + 1, &number) &&
	           number <= INT32_MAX);
}

static bool
is_json(const char *text)
{
	struct error ignored = { 0 };
	struct json *value;
	bool ok = json_parse(text, strlen(text), &value, &ignored);

	if (ok)
		json_free(value);
	error_release(&ignored);
	return ok;
}

static bool
is_json_object(const char *text)
{
	return text[strspn(text, " \t\n")] == '{' && is_json(text);
}

static bool
is_param(const char *text)
{
	return strchr(text, '=') != NULL && text[0] != '=';
}

static bool
is_process(const char *text)
{
	struct target target;

	return target_parse(text, &target) && target.process > 0;
}

static bool
is_root(const char *text)
{
	return is_instance(text) || is_process(text);
}

static bool
is_target(const char *text)
{
	struct target target;

	return target_parse(text, &target);
}

/* The types.  No SQL type: the bytes of a path.  Keep sorted by name. */
static const struct value_type {
	const char *name;
	bool (*check)(const char *text);
	const char *sql_type;
	const char *expected;
} value_types[] = {
	{ "ACTION", is_any, "text", "the name of an action, as retry" },
	{ "AGE", is_duration, "text", "an age, as 2h or '30 days'" },
	{ "CAPABILITIES", is_any, "text",
	    "names of capabilities with commas, or none" },
	{ "CEILING", is_max, "text", "a number from 0, or none" },
	{ "COMMAND", is_any, "text", "the name of a command" },
	{ "CONNINFO", is_any, "text",
	    "a database, a connection string or a URI" },
	{ "COUNT", is_count, "integer", "a number from 1" },
	{ "CRON", is_any, "text", "a cron expression, as '30 2 * * *'" },
	{ "DIR", is_any, NULL, "a directory" },
	{ "DRAWING", is_drawing, "text", "dot, mermaid or svg" },
	{ "DRIVER", is_any, "text", "the number or the name of a driver" },
	{ "DURATION", is_duration, "interval", "a duration, as '10 min'" },
	{ "FILE", is_any, NULL, "a file" },
	{ "FORMAT", is_format, "text", "table, json or csv" },
	{ "HOST", is_any, "text", "a host or the directory of a socket" },
	{ "INPUT", is_count, "bigint",
	    "the number of an input, as inputs shows it" },
	{ "INSTANCE", is_instance, "bigint", "an instance, as 17" },
	{ "JSON", is_json, "jsonb", "JSON" },
	{ "KEY", is_any, "text", "a key" },
	{ "LOGIN", is_any, "text", "the name of a login or role" },
	{ "MAX", is_max, "text", "a number from 0, or none" },
	{ "MEMBER", is_root, "text", "a process, as 17/42 or 42" },
	{ "MOMENT", is_any, "text",
	    "a moment, as 2026-01-31, or an age, as 2h or '30 days'" },
	{ "NAME", is_any, "text", "a name" },
	{ "NUMBER", is_integer, "integer", "a whole number" },
	{ "OBJECT", is_json_object, "jsonb", "a JSON object" },
	{ "ORDER", is_order, "text",
	    "elapsed, ended, failed, instance, key, priority, progress, "
	    "result, started, state or workflow, with a - before it to begin "
	    "with the highest" },
	{ "OVERLAP", is_any, "text",
	    "allow, skip, queue, replace or coalesce" },
	{ "PARAM=VALUE", is_param, "text",
	    "a parameter and its value, as day=2026-11-21" },
	{ "PER_MINUTE", is_max, "text", "a number from 0, or none" },
	{ "PORT", is_count, "integer", "a port" },
	{ "PROCESS", is_process, "bigint",
	    "an instance and a process of it, as 17/42" },
	{ "PROCESSES", is_max, "text", "a number from 1, or none" },
	{ "QUEUES", is_any, "text", "names of queues with commas, or none" },
	{ "RESULT", is_result, "text", "success, warning, error or aborted" },
	{ "ROLE", is_any, "text", "the name of a login or of a role" },
	{ "ROOT", is_root, "text", "a process, as 17/42 or 42" },
	{ "RUNNING", is_max, "text", "a number from 0, or none" },
	{ "STATE", is_any, "text", "a state" },
	{ "TAG", is_any, "text", "a tag" },
	{ "TARGET", is_target, "text",
	    "an instance or a process of it, as 17 or 17/42" },
	{ "TEXT", is_any, "text", "a text" },
	{ "TIME", is_time, "timestamptz",
	    "a time, as 2026-01-31T08:00 or 2026-01-31T08:00+01:00" },
	{ "TOKEN", is_any, "text", "the token of a callback" },
	{ "TOPIC", is_any, "text", "the name of a topic" },
	{ "USER", is_any, "text", "a user" },
	{ "VERB", is_any, "text", "the name of a verb, as abort" },
	{ "VERSION", is_count, "integer", "the number of a version" },
	{ "WHAT", is_any, "text", "a file, a workflow or an instance" },
	{ "WORKFLOW", is_any, "text", "the name of a workflow" },
	{ "WORKFLOWS", is_any, "text",
	    "names of workflows with commas, or all" },
	{ "ZONE", is_any, "text", "a time zone, as Europe/Berlin" },
};

static const struct value_type *
find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(value_types) / sizeof(value_types[0]); i++)
		if (strlen(value_types[i].name) == len &&
		    strncmp(value_types[i].name, name, len) == 0)
			return &value_types[i];
	abort(); /* a type that the tables name is missing here */
}

bool
value_check(const char *type, size_t len, const char *text, const char *what,
    struct error *err)
{
	const struct value_type *wanted = find(type, len);

	if (wanted->sql_type != NULL && !utf8_valid(text, strlen(text))) {
		error_set(err, "%s is not valid UTF-8", what);
		error_hint(err, "It has to be %s.", wanted->expected);
		return false;
	}
	if (wanted->check(text))
		return true;
	error_set(err, "%s can't be \"%.80s\"", what, text);
	error_hint(err, "It has to be %s.", wanted->expected);
	return false;
}

const char *
value_sql_type(const char *type)
{
	return type == NULL ? "boolean" : find(type, strlen(type))->sql_type;
}
