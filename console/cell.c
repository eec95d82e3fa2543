#include "console/cell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "console/output.h"
#include "console/text.h"

/*
 * To the millisecond and without the zone, always with the same width:
 * "2026-11-21 00:39:00.120".
 */
static void
add_time(struct buf *buf, const char *time)
{
	size_t len = strcspn(time, " "), digits = 0;

	len += strcspn(time + len, ".+-");
	buf_add(buf, time, len);
	if (time[len] == '.')
		digits = strspn(time + len + 1, "0123456789");
	if (digits > 3)
		digits = 3;
	buf_addf(buf, ".%.*s%.*s", (int)digits, time + len + 1,
	    (int)(3 - digits), "000");
}

void
cell_add_duration(struct buf *buf, const char *seconds)
{
	static const struct {
		long long length;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	long long left = strtoll(seconds, NULL, 10);
	size_t i = 0;

	if (seconds[0] == '-')
		left = 0; /* two clocks */
	while (units[i].letter != 's' && left < units[i].length)
		i++;
	buf_addf(buf, "%lld%c", left / units[i].length, units[i].letter);
	if (units[i].letter != 's')
		buf_addf(buf, " %lld%c",
		    left % units[i].length / units[i + 1].length,
		    units[i + 1].letter);
}

static bool
ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && strcmp(name + len - end_len, end) == 0;
}

void
cell_add(struct buf *buf, const struct column *column, const char *value)
{
	if (value == NULL)
		return;
	if (column->kind == VALUE_BOOL)
		buf_adds(buf, value[0] == 't' ? "yes" : "no");
	else if (column->kind == VALUE_TIME && isdigit((unsigned char)*value))
		add_time(buf, value);
	else if (column->kind == VALUE_NUMBER && ends_with(column->name, "_s"))
		cell_add_duration(buf, value);
	else if (column->kind == VALUE_JSON)
		text_add_safe_json(buf, value, "");
	else
		text_add_safe(buf, value, "");
}

void
cell_add_iso_time(struct buf *buf, const char *time)
{
	size_t date = strcspn(time, " ");
	const char *zone = strpbrk(time + date, "+-");

	buf_add(buf, time, date);
	if (time[date] == ' ')
		buf_addf(buf, "T%s", time + date + 1);
	if (time[date] == ' ' && zone != NULL && strchr(zone, ':') == NULL)
		buf_adds(buf, ":00");
}

enum style
cell_style(const struct column *column, const char *value)
{
	static const char *const columns[] = { "answer", "result", "state" };
	size_t i;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (value != NULL && strcmp(column->name, columns[i]) == 0)
			return terminal_state_style(value);
	return STYLE_PLAIN;
}

void
cell_add_heading(struct buf *buf, const struct column *column)
{
	size_t i, len = strlen(column->name);

	if (ends_with(column->name, "_at") || ends_with(column->name, "_id"))
		len -= strlen("_at");
	else if (ends_with(column->name, "_s"))
		len -= strlen("_s");
	for (i = 0; i < len; i++)
		if (column->name[i] == '_')
			buf_addc(buf, ' ');
		else
			buf_addc(
			    buf, (char)toupper((unsigned char)column->name[i]));
}
