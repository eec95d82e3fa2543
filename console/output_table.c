/*
 * output_table.c - columns under headings, as wide as the terminal allows.
 *
 * The first rows are held back to measure them; from then on the widths stay
 * and rows are printed as they come, so a long table takes no more memory.
 * If the table is wider than the terminal, it leaves out start times of things
 * whose duration it shows.  Then its widest columns shrink, and a text that is
 * cut ends in "…".  Numbers and times never shrink, because they identify
 * things.
 *
 * Columns that have to stay whole are not cut: if the table is too wide for
 * them, their texts stand below the row, wrapped.  If a table is too wide even
 * then, every column has a line of its own:
 *
 *	PROCESS  REASON  SINCE                    PROCESS  4
 *	      4  failed  2026-11-21 00:39:00.500  LABEL    fetch p1
 *	         fetch p1: http: answered 503;    REASON   failed
 *	         waits for retry, ignore, ...     DETAIL   http: answered
 *	                                                   503; waits for
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
	char **held; /* count cells per row, ready to print */
	size_t held_rows;
	bool is_measured;
	enum layout {
		IN_COLUMNS,
		/* values that must not be cut stand below the row */
		WHOLE_BELOW,
		STACKED, /* a line for each column */
	} layout;
	bool is_short;  /* without the start, if there is a duration */
	size_t printed; /* blocks */
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

/* Whether a shown column must not be cut. */
static bool
is_whole(const struct output *output, const struct table *table, size_t i)
{
	return is_listed(output->whole, output->columns[table->at[i]].name);
}

/* Whether a shown column stands in the row, and not below it. */
static bool
is_in_row(const struct output *output, const struct table *table, size_t i)
{
	const char *name = output->columns[table->at[i]].name;

	if (table->is_short && strcmp(name, "started_at") == 0 &&
	    is_listed(output->shown, "elapsed_s"))
		return false;
	return table->layout == IN_COLUMNS || !is_whole(output, table, i);
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

/* The terminal columns that a row takes. */
static size_t
row_width(const struct output *output, const struct table *table)
{
	size_t i, total = 0;

	for (i = 0; i < table->count; i++)
		if (is_in_row(output, table, i))
			total += (total > 0 ? SPACE : 0) + table->width[i];
	return total;
}

/* Cut the widest column by one until the table fits, or none may shrink. */
static void
fit(const struct output *output, struct table *table)
{
	size_t i, widest, limit = output->terminal->width;

	for (i = 0; i < table->count; i++)
		if (shrinks(output, table->at[i]) && table->width[i] > limit &&
		    limit > NARROWEST)
			table->width[i] = limit;
	while (row_width(output, table) > limit) {
		widest = table->count;
		for (i = 0; i < table->count; i++)
			if (shrinks(output, table->at[i]) &&
			    table->width[i] > NARROWEST &&
			    (widest == table->count ||
			        table->width[i] > table->width[widest]))
				widest = i;
		if (widest == table->count)
			return;
		table->width[widest]--;
	}
}

/* Choose the layout; cut the widest columns if none has to stay whole. */
static void
lay_out(const struct output *output, struct table *table)
{
	size_t limit = output->terminal->width;

	if (output->whole == NULL) {
		table->is_short = row_width(output, table) > limit;
		fit(output, table);
		if (row_width(output, table) > limit)
			table->layout = STACKED;
		return;
	}
	while (row_width(output, table) > limit && table->layout < STACKED)
		table->layout++;
}

static void
print_heading(struct output *output, const struct table *table)
{
	const struct terminal *terminal = output->terminal;
	struct buf line, heading;
	size_t i;

	if (table->layout == STACKED)
		return;
	buf_init(&line, 0);
	buf_init(&heading, 0);
	for (i = 0; i < table->count; i++) {
		const struct column *column = &output->columns[table->at[i]];

		if (!is_in_row(output, table, i))
			continue;
		buf_truncate(&heading, 0);
		cell_add_heading(&heading, column);
		if (line.len > 0)
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

/* One cell in its column; the last one of a row needs no blanks after it. */
static void
add_cell(struct buf *line, const struct output *output,
    const struct table *table, size_t i, const char *cell)
{
	const struct terminal *terminal = output->terminal;
	const struct column *column = &output->columns[table->at[i]];
	enum style style = cell_style(column, cell);
	size_t width = table->width[i], natural = text_width(cell);

	/* a row that came after the widths were settled may be wider */
	if (natural > width
	        ? is_whole(output, table, i) || terminal->width == 0 ||
	              !shrinks(output, table->at[i])
	        : i + 1 == table->count && column->kind != VALUE_NUMBER)
		width = natural;
	buf_adds(line, terminal_begin(terminal, style));
	text_add_fitted(line, cell, width, column->kind == VALUE_NUMBER,
	    terminal->glyphs->more);
	buf_adds(line, terminal_end(terminal, style));
}

/* The text below a row: "fetch p1: http: answered 503", wrapped. */
static void
add_whole(struct buf *line, const struct output *output,
    const struct table *table, char **cells)
{
	size_t i, indent = table->width[0] + SPACE;
	struct buf text;

	buf_init(&text, 0);
	for (i = 0; i < table->count; i++)
		if (is_whole(output, table, i) && cells[i][0] != '\0')
			buf_addf(
			    &text, "%s%s", text.len > 0 ? ": " : "", cells[i]);
	if (text.len > 0)
		buf_addf(line, "\n%*s", (int)indent, "");
	text_add_wrapped(line, text.data, indent, output->terminal->width);
	buf_release(&text);
}

static void
print_row(struct output *output, const struct table *table, char **cells)
{
	struct buf line;
	size_t i;

	buf_init(&line, 0);
	for (i = 0; i < table->count; i++) {
		if (!is_in_row(output, table, i))
			continue;
		if (line.len > 0)
			buf_addf(&line, "%*s", SPACE, "");
		add_cell(&line, output, table, i, cells[i]);
	}
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		buf_truncate(&line, line.len - 1);
	if (table->layout == WHOLE_BELOW)
		add_whole(&line, output, table, cells);
	fprintf(output->file, "%s\n", line.data);
	buf_release(&line);
}

/* A row as a block: the heading of each column, and its text, wrapped. */
static void
print_block(struct output *output, struct table *table, char **cells)
{
	const struct terminal *terminal = output->terminal;
	size_t i, indent = 0;
	struct buf line, heading;

	buf_init(&line, 0);
	buf_init(&heading, 0);
	for (i = 0; i < table->count; i++) {
		buf_truncate(&heading, 0);
		cell_add_heading(&heading, &output->columns[table->at[i]]);
		if (heading.len + SPACE > indent)
			indent = heading.len + SPACE;
	}
	for (i = 0; i < table->count; i++) {
		if (cells[i][0] == '\0')
			continue;
		buf_truncate(&heading, 0);
		cell_add_heading(&heading, &output->columns[table->at[i]]);
		buf_addf(&line, "%s%-*s%s",
		    terminal_begin(terminal, STYLE_BOLD), (int)indent,
		    heading.data, terminal_end(terminal, STYLE_BOLD));
		text_add_wrapped(&line, cells[i], indent, terminal->width);
		buf_addc(&line, '\n');
	}
	fprintf(
	    output->file, "%s%s", table->printed++ > 0 ? "\n" : "", line.data);
	buf_release(&heading);
	buf_release(&line);
}

/* Print a row in the layout that was chosen, and free its cells. */
static void
put_row(struct output *output, struct table *table, char **cells)
{
	size_t i;

	if (table->layout == STACKED)
		print_block(output, table, cells);
	else
		print_row(output, table, cells);
	for (i = 0; i < table->count; i++)
		free(cells[i]);
}

/* Settle the widths and print the rows that were held back. */
static void
measure(struct output *output, struct table *table)
{
	struct buf heading;
	size_t i, row, width;

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
		lay_out(output, table);
	table->is_measured = true;
	print_heading(output, table);
	for (row = 0; row < table->held_rows; row++)
		put_row(output, table, &table->held[row * table->count]);
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
		put_row(output, table, cells);
	} else if (++table->held_rows == MEASURED_ROWS) {
		measure(output, table);
	}
}

static void
table_settle(struct output *output)
{
	struct table *table = output->state;

	if (table->held_rows > 0)
		measure(output, table);
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
	.settle = table_settle,
	.end = table_end,
};
