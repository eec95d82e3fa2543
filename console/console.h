/*
 * console.h - the state that every command gets.
 */
#ifndef CONSOLE_CONSOLE_H
#define CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "console/command.h"
#include "console/invocation.h"
#include "console/output.h"
#include "console/terminal.h"

struct error;
struct pg;
struct pg_params;
struct pg_result;

struct console {
	struct invocation invocation;
	struct terminal terminal;
	FILE *out; /* the result goes here; all else to standard error */
	const struct output_format *format;
	bool is_record; /* a row is shown as a block, not as a line */
	struct pg *pg;  /* NULL unless the command needs a session */
};

/*
 * Whether ^C has come.  Then no further query is begun, and the program ends as
 * by that signal.
 */
bool console_is_interrupted(void);

/*
 * ^C came while no query was under way; or false: the command has handled ^C.
 */
void console_set_interrupted(bool is_interrupted);

/* The value of an argument or option, or NULL; whether a flag was given. */
const char *console_value(const struct console *console, const char *name);
bool console_flag(const struct console *console, const char *name);

/* Whether rows are for a script: commands then print nothing but rows. */
bool console_is_script(const struct console *console);

/*
 * Run SQL of the command table: `:name` is bound to the value from the command
 * line.  NULL on failure, else the caller's to pg_result_free().
 */
struct pg_result *console_query(
    const struct console *console, const char *sql, struct error *err);

/* The same with parameters that the caller gives. */
struct pg_result *console_query_params(const struct console *console,
    const char *sql, const struct pg_params *params, struct error *err);

/* Print all rows in the form that the command table asks for. */
void console_print(
    const struct console *console, const struct pg_result *result);

/* Write all rows to an output of their own, from begin to end. */
void console_put(struct output *output, const struct pg_result *result);

/*
 * The parts of console_put, for rows that come in several results: the columns,
 * for the caller to free(), with names that live as long as `result`; and all
 * rows of one result.
 */
struct column *console_columns(const struct pg_result *result);
void console_add(struct output *output, const struct pg_result *result);

/*
 * Report that the thing on the command line does not exist, in the words of the
 * command table (`missing`).
 */
void console_set_missing(
    const struct console *console, const char *missing, struct error *err);

/* Query and print: all that a command does if it is only SQL. */
enum exit_code console_run_sql(struct console *console, struct error *err);

/* Begin rows that come from no query; `output` is the caller's. */
void console_begin(const struct console *console, struct output *output,
    const struct column *columns, size_t column_count);

/* Report progress on standard error, unless the output is for a script. */
void console_note(const struct console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
