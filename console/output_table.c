/*
 * output_table.c - columns under headings, as wide as the terminal allows.
 *
 * The first rows are held back to measure them; from then on the widths stay
 * and rows are printed as they come, so memory is bounded.  When the table is
 * wider than the terminal its widest columns shrink and what is cut ends in
 * "…"; numbers and times, so all that identifies something, never shrink.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "console/cell.h"
#include "console/output.h"
#include "console/terminal.h"
#include "console/text.h"

#define MEASURED_ROWS 1000
#define NARROWEST 8 /* a column does not shrink below */
#define SPACE 2     /* between columns */

struct table {
	size_t *at; /* the shown columns: their places among all */
	size_t *width;
	size_t count;
	char **held; /* count cells a row, ready to print */
	size_t held_rows;
	bool is_measured;
};

/* Whether `name` is one of the words in `list`. */
static bool
is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *word;

	for (word = list; word != NULL; word = strchr(word, ' ')) {
		word += strspn(word, " ");
		if (strcspn(word, " ") == len && strncmp(word, name, len) == 0)
			return true;
	}
	return false;
}

static bool
shrinks(const struct output *output, size_t column)
{
	enum value_kind kind = output->columns[column].kind;

	return kind == VALUE_TEXT || kind == VALUE_JSON;
}

static void
table_begin(struct output *output)
{
	struct table *table = xcalloc(1, sizeof(*table));
	size_t i;

	table->at = xcalloc(output->column_count, sizeof(*table->at));
	table->width = xcalloc(output->column_count, sizeof(*table->width));
	for (i = 0; i < output->column_count; i++)
		if (output->shown == NULL ||
		    is_listed(output->shown, output->columns[i].name))
			table->at[table->count++] = i;
	table->held = xcalloc(table->count * MEASURED_ROWS, sizeof(char *));
	output->state = table;
}

/* Cut the widest column by one until the table fits, or none may shrink. */
static void
fit(const struct output *output, struct table *table)
{
	size_t i, widest, total, limit = output->terminal->width;

	for (i = 0; i < table->count; i++)
		if (shrinks(output, table->at[i]) && table->width[i] > limit &&
		    limit > NARROWEST)
			table->width[i] = limit;
	for (;;) {
		widest = table->count;
		total = SPACE * (table->count - 1);
		for (i = 0; i < table->count; i++) {
			total += table->width[i];
			if (shrinks(output, table->at[i]) &&
			    table->width[i] > NARROWEST &&
			    (widest == table->count ||
			        table->width[i] > table->width[widest]))
				widest = i;
		}
		if (total <= limit || widest == table->count)
			return;
		table->width[widest]--;
	}
}

static void
print_heading(struct output *output, const struct table *table)
{
	const struct terminal *terminal = output->terminal;
	struct buf line, heading;
	size_t i;

	buf_init(&line, 0);
	buf_init(&heading, 0);
	for (i = 0; i < table->count; i++) {
		const struct column *column = &output->columns[table->at[i]];

		buf_truncate(&heading, 0);
		cell_add_heading(&heading, column);
		if (i > 0)
			buf_addf(&line, "%*s", SPACE, "");
		if (i + 1 == table->count && column->kind != VALUE_NUMBER)
			buf_adds(&line, heading.data);
		else
			text_add_fitted(&line, heading.data, table->width[i],
			    column->kind == VALUE_NUMBER,
			    terminal->glyphs->more);
	}
	fprintf(output->file, "%s%s%s\n", terminal_begin(terminal, STYLE_BOLD),
	    line.data, terminal_end(terminal, STYLE_BOLD));
	buf_release(&line);
	buf_release(&heading);
}

static void
print_row(struct output *output, const struct table *table, char **cells)
{
	const struct terminal *terminal = output->terminal;
	struct buf line;
	size_t i, width;

	buf_init(&line, 0);
	for (i = 0; i < table->count; i++) {
		const struct column *column = &output->columns[table->at[i]];
		enum style style = cell_style(column, cells[i]);

		width = table->width[i];
		if (i + 1 == table->count && column->kind != VALUE_NUMBER &&
		    text_width(cells[i]) < width)
			width = text_width(cells[i]);
		if (i > 0)
			buf_addf(&line, "%*s", SPACE, "");
		buf_adds(&line, terminal_begin(terminal, style));
		text_add_fitted(&line, cells[i], width,
		    column->kind == VALUE_NUMBER, terminal->glyphs->more);
		buf_adds(&line, terminal_end(terminal, style));
	}
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		buf_truncate(&line, line.len - 1);
	fprintf(output->file, "%s\n", line.data);
	buf_release(&line);
}

static void
release_cells(const struct table *table, char **cells)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free(cells[i]);
}

/* Settle the widths and print what was held back. */
static void
measure(struct output *output, struct table *table)
{
	struct buf heading;
	size_t i, row, width;
	char **cells;

	buf_init(&heading, 0);
	for (i = 0; i < table->count; i++) {
		buf_truncate(&heading, 0);
		cell_add_heading(&heading, &output->columns[table->at[i]]);
		table->width[i] = heading.len;
		for (row = 0; row < table->held_rows; row++) {
			width = text_width(table->held[row * table->count + i]);
			if (width > table->width[i])
				table->width[i] = width;
		}
	}
	buf_release(&heading);
	if (output->terminal->width > 0)
		fit(output, table);
	table->is_measured = true;
	print_heading(output, table);
	for (row = 0; row < table->held_rows; row++) {
		cells = &table->held[row * table->count];
		print_row(output, table, cells);
		release_cells(table, cells);
	}
	table->held_rows = 0;
}

static void
table_row(struct output *output, const char *const *values)
{
	struct table *table = output->state;
	char **cells = &table->held[table->held_rows * table->count];
	struct buf cell;
	size_t i;

	for (i = 0; i < table->count; i++) {
		buf_init(&cell, 0);
		cell_add(&cell, &output->columns[table->at[i]],
		    values[table->at[i]]);
		cells[i] = buf_take(&cell);
	}
	if (table->is_measured) {
		print_row(output, table, cells);
		release_cells(table, cells);
	} else if (++table->held_rows == MEASURED_ROWS) {
		measure(output, table);
	}
}

static void
table_end(struct output *output)
{
	struct table *table = output->state;

	if (table->held_rows > 0)
		measure(output, table);
	free(table->held);
	free(table->width);
	free(table->at);
	free(table);
}

const struct output_format output_table = {
	.name = "table",
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
};
