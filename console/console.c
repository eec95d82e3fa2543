#include "console/console.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"
#include "console/bind.h"
#include "console/session.h"
#include "console/text.h"

const char *
console_value(const struct console *console, const char *name)
{
	return invocation_value(&console->invocation, name);
}

bool
console_flag(const struct console *console, const char *name)
{
	return console_value(console, name) != NULL;
}

bool
console_is_script(const struct console *console)
{
	return console->format != &output_table;
}

/* For the query that the server works on; the handler of ^C uses it. */
static struct pg_cancel *volatile under_way;
static volatile sig_atomic_t interrupted;

/*
 * As psql does: the server cancels the query and says so; then the program
 * ends.
 */
static void
on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
	if (under_way != NULL)
		pg_cancel_in_handler(under_way);
}

bool
console_is_interrupted(void)
{
	return interrupted != 0;
}

void
console_set_interrupted(bool is_interrupted)
{
	interrupted = is_interrupted;
}

/* ^C reaches the program, also if its caller blocks ^C between queries. */
static void
unblock_interrupt(sigset_t *before)
{
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_UNBLOCK, &interrupt, before);
}

/* A query that ^C stops, unless the process that started us ignores ^C. */
static struct pg_result *
query(const struct console *console, const char *sql,
    const struct pg_params *params, struct error *err)
{
	const struct sigaction ours = { .sa_handler = on_interrupt };
	struct pg_cancel *cancel = pg_cancel_new(console->pg);
	struct pg_result *result = NULL;
	struct sigaction before;
	sigset_t mask;

	under_way = cancel;
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &ours, NULL);
	unblock_interrupt(&mask);
	/* ^C may have come since the last query */
	if (interrupted)
		error_set(err, "interrupted");
	else
		result = pg_query(console->pg, sql, params, err);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGINT, &before, NULL);
	under_way = NULL;
	pg_cancel_free(cancel);
	return result;
}

struct pg_result *
console_query_params(const struct console *console, const char *sql,
    const struct pg_params *params, struct error *err)
{
	struct pg_result *result = query(console, sql, params, err);

	if (result == NULL)
		session_explain(console, err);
	if (interrupted && result != NULL) {
		pg_result_free(result); /* the query had ended before ^C came */
		result = NULL;
		error_set(err, "interrupted");
	}
	return result;
}

struct pg_result *
console_query(const struct console *console, const char *sql, struct error *err)
{
	struct pg_params params;
	struct pg_result *result;
	char *text;

	pg_params_init(&params);
	text = bind_sql(sql, &console->invocation, &params);
	result = console_query_params(console, text, &params, err);
	free(text);
	pg_params_release(&params);
	return result;
}

static enum value_kind
column_kind(const struct pg_result *result, int column)
{
	switch (pg_column_kind(result, column)) {
	case PG_KIND_NUMBER:
		return VALUE_NUMBER;
	case PG_KIND_BOOL:
		return VALUE_BOOL;
	case PG_KIND_JSON:
		return VALUE_JSON;
	case PG_KIND_TIME:
		return VALUE_TIME;
	case PG_KIND_TEXT:
		break;
	}
	return VALUE_TEXT;
}

static void
init_output(const struct console *console, struct output *output)
{
	*output = (struct output){
		.format = console->is_record && !console_is_script(console)
		              ? &output_record
		              : console->format,
		.terminal = &console->terminal,
		.file = console->out,
		.shown = console->invocation.command->shown,
		.whole = console->invocation.command->whole,
	};
}

void
console_begin(const struct console *console, struct output *output,
    const struct column *columns, size_t column_count)
{
	init_output(console, output);
	output_begin(output, columns, column_count);
}

struct column *
console_columns(const struct pg_result *result)
{
	int count = pg_columns(result), i;
	struct column *columns = xcalloc((size_t)count, sizeof(*columns));

	for (i = 0; i < count; i++)
		columns[i] = (struct column){
			.name = pg_column_name(result, i),
			.kind = column_kind(result, i),
		};
	return columns;
}

void
console_add(struct output *output, const struct pg_result *result)
{
	int count = pg_columns(result), row, i;
	const char **cells = xcalloc((size_t)count, sizeof(*cells));

	for (row = 0; row < pg_rows(result); row++) {
		for (i = 0; i < count; i++)
			cells[i] = pg_value(result, row, i);
		output_row(output, cells);
	}
	free(cells);
}

void
console_put(struct output *output, const struct pg_result *result)
{
	struct column *columns = console_columns(result);

	output_begin(output, columns, (size_t)pg_columns(result));
	console_add(output, result);
	output_end(output);
	free(columns);
}

void
console_print(const struct console *console, const struct pg_result *result)
{
	const struct command *command = console->invocation.command;
	struct output output;

	init_output(console, &output);
	console_put(&output, result);
	if (pg_rows(result) == 0 && command->none != NULL)
		console_note(console, "%s", command->none);
}

/* "instance 8", "process 8/99", or the value alone */
static void
add_named(struct buf *text, const char *name, const char *value)
{
	bool is_target = strcmp(name, "INSTANCE") == 0 ||
	                 strcmp(name, "PROCESS") == 0 ||
	                 strcmp(name, "TARGET") == 0;

	if (is_target)
		buf_adds(text,
		    strchr(value, '/') != NULL ? "process " : "instance ");
	buf_addf(text, "%.100s", value);
}

void
console_set_missing(
    const struct console *console, const char *missing, struct error *err)
{
	const char *value;
	struct buf text;
	char *name;
	size_t len;

	buf_init(&text, 0);
	while (*missing != '\0') {
		len = strcspn(missing, ":");
		buf_add(&text, missing, len);
		missing += len;
		if (*missing == '\0')
			break;
		len = strspn(++missing, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		name = xstrndup(missing, len);
		value = console_value(console, name);
		add_named(&text, name, value != NULL ? value : "");
		free(name);
		missing += len;
	}
	error_set(err, "%s", text.data);
	error_sqlstate(err, SQLSTATE_NOT_FOUND);
	session_explain(console, err);
	buf_release(&text);
}

enum exit_code
console_run_sql(struct console *console, struct error *err)
{
	const struct command *command = console->invocation.command;
	struct pg_result *result = console_query(console, command->sql, err);
	bool is_bad;

	if (result == NULL)
		return EXIT_FAILED;
	if (pg_rows(result) == 0 && command->missing != NULL) {
		pg_result_free(result);
		console_set_missing(console, command->missing, err);
		return EXIT_FAILED;
	}
	console_print(console, result);
	is_bad = command->rows_are_bad && pg_rows(result) > 0;
	pg_result_free(result);
	return is_bad ? EXIT_FAILED : EXIT_DONE;
}

void
console_note(const struct console *console, const char *format, ...)
{
	struct buf safe;
	va_list args;
	char *text;

	if (console_is_script(console))
		return;
	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	buf_init(&safe, 0);
	text_add_safe(&safe, text, "\n");
	fflush(console->out);
	fprintf(stderr, "%s\n", safe.data);
	buf_release(&safe);
	free(text);
}
