/*
 * output_csv.c - RFC 4180: a line of names, then a line for each row.
 *
 * For spreadsheets and scripts: all columns, lines end with CR LF, times are
 * ISO 8601 with their zone.  A null is empty, an empty text is "".  As
 * everywhere, what could move the cursor of a terminal is escaped.
 */
#include <string.h>

#include "common/buf.h"
#include "console/cell.h"
#include "console/output.h"
#include "console/text.h"

/* A text, in quotes if it needs them. */
static void
add_field(struct buf *line, const char *text)
{
	if (text[0] != '\0' && strpbrk(text, ",\"\r\n") == NULL) {
		buf_adds(line, text);
		return;
	}
	buf_addc(line, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			buf_addc(line, '"');
		buf_addc(line, *text);
	}
	buf_addc(line, '"');
}

static void
add_cell(struct buf *line, enum value_kind kind, const char *cell)
{
	struct buf text;

	if (cell == NULL)
		return;
	buf_init(&text, 0);
	if (kind == VALUE_BOOL)
		buf_adds(&text, cell[0] == 't' ? "true" : "false");
	else if (kind == VALUE_TIME)
		cell_add_iso_time(&text, cell);
	else if (kind == VALUE_JSON)
		text_add_safe_json(&text, cell, "\r\n\t");
	else
		text_add_safe(&text, cell, "\r\n\t");
	add_field(line, text.data);
	buf_release(&text);
}

static void
print_line(struct output *output, struct buf *line)
{
	buf_adds(line, "\r\n");
	fwrite(line->data, 1, line->len, output->file);
	buf_release(line);
}

static void
csv_begin(struct output *output)
{
	struct buf line;
	size_t i;

	buf_init(&line, 0);
	for (i = 0; i < output->column_count; i++) {
		buf_adds(&line, i > 0 ? "," : "");
		add_cell(&line, VALUE_TEXT, output->columns[i].name);
	}
	print_line(output, &line);
}

static void
csv_row(struct output *output, const char *const *cells)
{
	struct buf line;
	size_t i;

	buf_init(&line, 0);
	for (i = 0; i < output->column_count; i++) {
		buf_adds(&line, i > 0 ? "," : "");
		add_cell(&line, output->columns[i].kind, cells[i]);
	}
	print_line(output, &line);
}

static void
csv_end(struct output *output)
{
	(void)output;
}

const struct output_format output_csv = {
	.name = "csv",
	.begin = csv_begin,
	.row = csv_row,
	.end = csv_end,
};
