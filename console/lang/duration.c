#include "console/lang/duration.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "console/lang/arena.h"
#include "console/lang/symbol.h"

/* Units, the largest first; `ms` adds to the seconds. */
enum unit { WEEK, DAY, HOUR, MINUTE, SECOND, MILLISECOND, UNITS };

static const struct {
	const char *name;
	enum unit unit;
	bool is_short; /* allowed in a literal */
} units[] = {
	{ "w", WEEK, true },
	{ "week", WEEK, false },
	{ "weeks", WEEK, false },
	{ "d", DAY, true },
	{ "day", DAY, false },
	{ "days", DAY, false },
	{ "h", HOUR, true },
	{ "hr", HOUR, false },
	{ "hrs", HOUR, false },
	{ "hour", HOUR, false },
	{ "hours", HOUR, false },
	{ "m", MINUTE, true },
	{ "min", MINUTE, false },
	{ "mins", MINUTE, false },
	{ "minute", MINUTE, false },
	{ "minutes", MINUTE, false },
	{ "s", SECOND, true },
	{ "sec", SECOND, false },
	{ "secs", SECOND, false },
	{ "second", SECOND, false },
	{ "seconds", SECOND, false },
	{ "ms", MILLISECOND, true },
	{ "milli", MILLISECOND, false },
	{ "millis", MILLISECOND, false },
	{ "millisecond", MILLISECOND, false },
	{ "milliseconds", MILLISECOND, false },
};

/* A day is not always 24 hours, so days are counted apart. */
static const struct {
	int days;
	int64_t ms;
} values[UNITS] = {
	[WEEK] = { .days = 7 },
	[DAY] = { .days = 1 },
	[HOUR] = { .ms = 3600000 },
	[MINUTE] = { .ms = 60000 },
	[SECOND] = { .ms = 1000 },
	[MILLISECOND] = { .ms = 1 },
};

enum {
	DAYS_MAX = 36600, /* a hundred years */
	DAY_MS = 86400000,
};

struct span {
	int64_t days, ms;
};

struct reader {
	const char *at, *end;
	bool literal;
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
read_unit(struct reader *reader, enum unit *unit)
{
	const char *text = reader->at;
	size_t len = 0, i;

	while (text + len < reader->end && is_letter(text[len]))
		len++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == len &&
		    (reader->literal
		            ? units[i].is_short &&
		                  memcmp(units[i].name, text, len) == 0
		            : strncasecmp(units[i].name, text, len) == 0)) {
			*unit = units[i].unit;
			reader->at += len;
			return true;
		}
	}
	return false;
}

static void
skip_blanks(struct reader *reader)
{
	if (reader->literal)
		return;
	while (reader->at < reader->end && strchr(" \t\n,", *reader->at))
		reader->at++;
}

/* `number` of `unit`s: whole days as days, everything else as milliseconds. */
static bool
span_add(struct span *span, double number, enum unit unit)
{
	double days = number * values[unit].days;
	double ms = number * (double)values[unit].ms;

	if (days > DAYS_MAX || ms > (double)DAYS_MAX * DAY_MS)
		return false;
	ms += (days - (double)(int64_t)days) * DAY_MS;
	span->days += (int64_t)days;
	span->ms += (int64_t)(ms + 0.5);
	return span->days <= DAYS_MAX;
}

static bool
read_span(struct reader *reader, struct span *span)
{
	int before = -1;
	enum unit unit = WEEK;
	double number;
	size_t len;

	skip_blanks(reader);
	do {
		len = symbol_number(reader->at);
		if (len == 0 || reader->at + len > reader->end)
			return false;
		number = strtod(reader->at, NULL);
		reader->at += len;
		skip_blanks(reader);
		if (!read_unit(reader, &unit) ||
		    (reader->literal && (int)unit <= before) ||
		    !span_add(span, number, unit))
			return false;
		before = (int)unit;
		skip_blanks(reader);
	} while (reader->at < reader->end);
	return true;
}

/* As PostgreSQL writes an interval in ISO 8601. */
static char *
write_iso(struct arena *arena, const struct span *span)
{
	int64_t hours = span->ms / 3600000;
	int minutes = (int)(span->ms / 60000 % 60);
	int seconds = (int)(span->ms / 1000 % 60), ms = (int)(span->ms % 1000);
	char *text = "P";

	if (span->days)
		text = arena_printf(arena, "P%lldD", (long long)span->days);
	if (span->ms || !span->days)
		text = arena_printf(arena, "%sT", text);
	if (hours)
		text = arena_printf(arena, "%s%lldH", text, (long long)hours);
	if (minutes)
		text = arena_printf(arena, "%s%dM", text, minutes);
	while (ms && ms % 10 == 0)
		ms /= 10;
	if (span->ms % 1000)
		text = arena_printf(arena, "%s%d.%0*dS", text, seconds,
		    span->ms % 10    ? 3
		    : span->ms % 100 ? 2
		                     : 1,
		    ms);
	else if (seconds || (!span->ms && !span->days))
		text = arena_printf(arena, "%s%dS", text, seconds);
	return text;
}

static char *
read_duration(struct arena *arena, const char *text, size_t len, bool literal)
{
	struct reader reader = { text, text + len, literal };
	struct span span = { 0, 0 };

	return read_span(&reader, &span) ? write_iso(arena, &span) : NULL;
}

char *
duration_literal(struct arena *arena, const char *text, size_t len)
{
	return read_duration(arena, text, len, true);
}

char *
duration_text(struct arena *arena, const char *text)
{
	return read_duration(arena, text, strlen(text), false);
}
