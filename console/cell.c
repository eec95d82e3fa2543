#include "console/cell.h"

#include <ctype.h>
#include <string.h>

#include "common/buf.h"
#include "console/output.h"
#include "console/text.h"

/*
 * To the millisecond and without the zone, always of one width:
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
cell_add(struct buf *buf, const struct column *column, const char *value)
{
	if (value == NULL)
		return;
	if (column->kind == VALUE_BOOL)
		buf_adds(buf, value[0] == 't' ? "yes" : "no");
	else if (column->kind == VALUE_TIME && isdigit((unsigned char)*value))
		add_time(buf, value);
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

	if (len > 3 && (strcmp(column->name + len - 3, "_at") == 0 ||
	                   strcmp(column->name + len - 3, "_id") == 0))
		len -= 3;
	for (i = 0; i < len; i++)
		if (column->name[i] == '_')
			buf_addc(buf, ' ');
		else
			buf_addc(
			    buf, (char)toupper((unsigned char)column->name[i]));
}
