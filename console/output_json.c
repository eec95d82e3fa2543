/*
 * output_json.c - a JSON array with one object for each row.
 *
 * For scripts: the keys are the columns' names, numbers are numbers, times
 * are ISO 8601 with their zone, and nothing depends on the terminal.
 */
#include <ctype.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "console/cell.h"
#include "console/output.h"
#include "console/text.h"

/* PostgreSQL also has NaN and infinities; JSON has not. */
static bool
is_json_number(const char *number)
{
	return isdigit((unsigned char)number[number[0] == '-']);
}

static void
add_value(struct buf *buf, enum value_kind kind, const char *cell)
{
	if (cell == NULL) {
		buf_adds(buf, "null");
	} else if (kind == VALUE_BOOL) {
		buf_adds(buf, cell[0] == 't' ? "true" : "false");
	} else if (kind == VALUE_JSON) {
		text_add_safe_json(buf, cell, "\n\t");
	} else if (kind == VALUE_NUMBER && is_json_number(cell)) {
		buf_adds(buf, cell);
	} else if (kind == VALUE_TIME && isdigit((unsigned char)cell[0])) {
		buf_addc(buf, '"');
		cell_add_iso_time(buf, cell);
		buf_addc(buf, '"');
	} else {
		size_t start = buf->len;
		struct buf safe;

		if (!json_add_string(buf, cell, strlen(cell)))
			buf_adds(buf, "null");
		buf_init(&safe, 0);
		text_add_safe_json(&safe, buf->data + start, "");
		buf_truncate(buf, start);
		buf_adds(buf, safe.data);
		buf_release(&safe);
	}
}

static void
json_begin(struct output *output)
{
	fputc('[', output->file);
}

static void
json_row(struct output *output, const char *const *cells)
{
	struct buf line;
	size_t i;

	buf_init(&line, 0);
	buf_adds(&line, output->row_count > 1 ? ",\n{" : "\n{");
	for (i = 0; i < output->column_count; i++) {
		const struct column *column = &output->columns[i];

		if (i > 0)
			buf_addc(&line, ',');
		json_add_string(&line, column->name, strlen(column->name));
		buf_addc(&line, ':');
		add_value(&line, column->kind, cells[i]);
	}
	buf_addc(&line, '}');
	fwrite(line.data, 1, line.len, output->file);
	buf_release(&line);
}

static void
json_end(struct output *output)
{
	fputs(output->row_count > 0 ? "\n]\n" : "]\n", output->file);
}

const struct output_format output_json = {
	.name = "json",
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
};
