/*
 * cmd_history.c - every move of an instance or a process, also new ones as they
 * come.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/pg.h"
#include "console/at_rest.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/value.h"

/* The moves after the one with the number `seen`; NULL: all. */
static struct pg_result *
ask(struct console *console, const char *seen, struct error *err)
{
	struct pg_result *rows;

	if (seen != NULL)
		invocation_add(&console->invocation, "seen", "NUMBER", seen);
	rows = console_query(console, console->invocation.command->sql, err);
	if (seen != NULL)
		invocation_drop(&console->invocation, 1);
	return rows;
}

/* Print the moves after `first`, as long as more can come. */
static bool
follow(struct console *console, const struct pg_result *first,
    struct output *output, struct error *err)
{
	char *seen = xstrdup(pg_value(first, pg_rows(first) - 1, 0));
	struct pg_result *rows;
	struct target target;
	bool is_over = false, ok;

	(void)target_parse(console_value(console, "TARGET"), &target);
	do {
		/*
		 * ask first whether it has ended, then for moves: none is
		 * missed
		 */
		ok = at_rest(console, &target, &is_over, err);
		rows = ok ? ask(console, seen, err) : NULL;
		ok = rows != NULL;
		if (ok && pg_rows(rows) > 0) {
			console_add(output, rows);
			output_settle(output);
			free(seen);
			seen = xstrdup(pg_value(rows, pg_rows(rows) - 1, 0));
		}
		pg_result_free(rows);
	} while (ok && !is_over && at_rest_wait(console));
	free(seen);
	return ok;
}

enum exit_code
cmd_history(struct console *console, struct error *err)
{
	struct pg_result *first = ask(console, NULL, err);
	struct column *columns;
	struct output output;
	bool ok = true;

	if (first == NULL)
		return EXIT_FAILED;
	if (pg_rows(first) == 0) {
		pg_result_free(first);
		console_set_missing(console, "there is no :TARGET", err);
		return EXIT_FAILED;
	}
	columns = console_columns(first);
	console_begin(console, &output, columns, (size_t)pg_columns(first));
	console_add(&output, first);
	if (console_flag(console, "follow")) {
		output_settle(&output);
		ok = follow(console, first, &output, err);
	}
	output_end(&output);
	free(columns);
	pg_result_free(first);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
