/*
 * output.h - rows on standard output, in the form that was asked for.
 *
 * Commands describe columns and pass rows; this module decides how they look.
 * A new format is a file with one `struct output_format` and a line in
 * output.c.
 */
#ifndef CONSOLE_OUTPUT_H
#define CONSOLE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct output;
struct terminal;

enum value_kind {
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_BOOL, /* "t" or "f" */
	VALUE_JSON,
	VALUE_TIME, /* as PostgreSQL prints a timestamptz in ISO style */
};

struct column {
	const char *name;
	enum value_kind kind;
};

struct output_format {
	const char *name;

	/* The columns are known, and there is no row yet. */
	void (*begin)(struct output *output);

	/* One cell per column; NULL is SQL's null. */
	void (*row)(struct output *output, const char *const *cells);

	/* Print what was held back, because the next row will take long; NULL:
	 * this format holds nothing back. */
	void (*settle)(struct output *output);

	/* No more rows.  Releases `state`. */
	void (*end)(struct output *output);
};

extern const struct output_format output_csv;
extern const struct output_format output_json;
extern const struct output_format output_record;
extern const struct output_format output_table;

/* One table of rows.  Formats read all members and own `state`. */
struct output {
	const struct output_format *format;
	const struct terminal *terminal;
	FILE *file;

	/*
	 * Names of the columns that a table shows, separated by spaces;
	 * NULL: all.  The other formats always show all.
	 */
	const char *shown;

	/*
	 * Those columns whose text a table never cuts, also separated by
	 * spaces; NULL: it may cut all.
	 */
	const char *whole;

	const struct column *columns; /* borrowed until the output ends */
	size_t column_count;
	size_t row_count;
	void *state;
};

/* The format called `name`, or NULL. */
const struct output_format *output_format_find(const char *name);

/* Call them in this order; begin and end exactly once. */
void output_begin(
    struct output *output, const struct column *columns, size_t column_count);
void output_row(struct output *output, const char *const *cells);
void output_settle(struct output *output);
void output_end(struct output *output);

#endif
