/*
 * output_record.c - one thing at length: a line per column, JSON laid out.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "console/cell.h"
#include "console/output.h"
#include "console/terminal.h"
#include "console/text.h"

#define SHORT_JSON 60 /* up to this it stays on a line */

/*
 * PostgreSQL's compact JSON, with one member or element per line.  Only strings
 * and brackets need to be known for that.
 */
static void
add_pretty(struct buf *buf, const char *json)
{
	bool in_string = false;
	int depth = 0;

	for (; *json != '\0'; json++) {
		if (in_string) {
			buf_addc(buf, *json);
			if (*json == '\\' && json[1] != '\0')
				buf_addc(buf, *++json);
			else if (*json == '"')
				in_string = false;
			continue;
		}
		if ((*json == '}' || *json == ']') && depth > 0)
			buf_addf(buf, "\n%*s", 2 * --depth, "");
		if (*json != ' ')
			buf_addc(buf, *json);
		if (*json == ':')
			buf_addc(buf, ' ');
		in_string = *json == '"';
		if ((*json == '{' && json[1] != '}') ||
		    (*json == '[' && json[1] != ']'))
			buf_addf(buf, "\n%*s", 2 * ++depth, "");
		else if (*json == '{' || *json == '[')
			buf_addc(buf, *++json);
		else if (*json == ',')
			buf_addf(buf, "\n%*s", 2 * depth, "");
	}
}

/* Text that begins below its name, with each line indented. */
static void
print_block(struct output *output, const char *text)
{
	size_t len;

	fputc('\n', output->file);
	for (; *text != '\0'; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		fprintf(output->file, "    %.*s\n", (int)len, text);
	}
}

static void
print_value(
    struct output *output, const struct column *column, const char *value)
{
	enum style style = cell_style(column, value);
	struct buf pretty, safe;

	buf_init(&pretty, 0);
	buf_init(&safe, 0);
	if (column->kind == VALUE_JSON) {
		if (strlen(value) > SHORT_JSON)
			add_pretty(&pretty, value);
		else
			buf_adds(&pretty, value);
		text_add_safe_json(&safe, pretty.data, "\n");
	} else if (column->kind == VALUE_TEXT) {
		text_add_safe(&safe, value, "\n");
	} else {
		cell_add(&safe, column, value);
	}
	if (strchr(safe.data, '\n') != NULL)
		print_block(output, safe.data);
	else
		fprintf(output->file, " %s%s%s\n",
		    terminal_begin(output->terminal, style), safe.data,
		    terminal_end(output->terminal, style));
	buf_release(&safe);
	buf_release(&pretty);
}

static void
record_begin(struct output *output)
{
	(void)output;
}

static void
record_row(struct output *output, const char *const *cells)
{
	const struct terminal *terminal = output->terminal;
	size_t i;

	if (output->row_count > 1)
		fputc('\n', output->file);
	for (i = 0; i < output->column_count; i++) {
		if (cells[i] == NULL || cells[i][0] == '\0')
			continue;
		fprintf(output->file, "%s%s:%s",
		    terminal_begin(terminal, STYLE_BOLD),
		    output->columns[i].name,
		    terminal_end(terminal, STYLE_BOLD));
		print_value(output, &output->columns[i], cells[i]);
	}
}

static void
record_end(struct output *output)
{
	(void)output;
}

const struct output_format output_record = {
	.name = "record",
	.begin = record_begin,
	.row = record_row,
	.end = record_end,
};
