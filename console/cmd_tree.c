/*
 * cmd_tree.c - the processes of an instance, page by page: as a tree (tree.h),
 * or as bars of time (gantt.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/pg.h"
#include "console/at_rest.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/gantt.h"
#include "console/tree.h"
#include "console/value.h"

enum {
	PAGE = 200, /* processes */
};

typedef void print_fn(const struct terminal *terminal,
    const struct pg_result *rows, int count, FILE *out);

/* The number of processes at most; all if there is no limit. */
static struct pg_result *
ask(struct console *console, int64_t limit, struct error *err)
{
	const char *sql = console->invocation.command->sql;
	struct pg_result *rows;
	char text[24];

	if (limit == 0)
		return console_query(console, sql, err);
	snprintf(text, sizeof(text), "%" PRId64, limit);
	invocation_add(&console->invocation, "rows", "COUNT", text);
	rows = console_query(console, sql, err);
	invocation_drop(&console->invocation, 1);
	return rows;
}

/* The rows of the first `limit` processes; a process may have several rows. */
static int
rows_of(const struct pg_result *rows, int64_t limit)
{
	int column = pg_column(rows, "process_id"), row;
	int64_t processes = 0;

	for (row = 0; row < pg_rows(rows); row++) {
		if (row == 0 || strcmp(pg_value(rows, row, column),
		                    pg_value(rows, row - 1, column)) != 0)
			processes++;
		if (processes > limit)
			break;
	}
	return row;
}

/* A process after the page shows that the page is not the last one. */
static void
print_page(const struct console *console, const struct pg_result *rows,
    int64_t page, const char *word, print_fn *print)
{
	int count = rows_of(rows, page);

	print(&console->terminal, rows, count, console->out);
	if (count < pg_rows(rows))
		console_note(console,
		    "there is more: `wf-console %s %s --after %s` goes on",
		    word, console_value(console, "INSTANCE"),
		    pg_value(rows, count - 1, pg_column(rows, "process_id")));
}

static enum exit_code
show(struct console *console, const char *word, print_fn *print,
    struct error *err)
{
	const char *limit = console_value(console, "limit");
	bool is_script = console_is_script(console);
	int64_t page = is_script ? 0 : PAGE;
	struct pg_result *rows;

	if (limit != NULL)
		(void)value_bigint(limit, &page);
	rows =
	    ask(console, is_script || page == INT32_MAX ? page : page + 1, err);
	if (rows == NULL)
		return EXIT_FAILED;
	if (is_script || pg_rows(rows) == 0)
		console_print(console, rows);
	else
		print_page(console, rows, page, word, print);
	pg_result_free(rows);
	return EXIT_DONE;
}

/* All text of the rows, except how long each has taken. */
static char *
fingerprint(const struct pg_result *rows)
{
	int elapsed = pg_column(rows, "elapsed_s"), row, i;
	struct buf text;

	buf_init(&text, 0);
	for (row = 0; row < pg_rows(rows); row++)
		for (i = 0; i < pg_columns(rows); i++)
			if (i != elapsed && pg_value(rows, row, i) != NULL)
				buf_addf(&text, "%s ", pg_value(rows, row, i));
	return buf_take(&text);
}

/* Print the tree again whenever it changes, as long as it can change. */
static enum exit_code
follow(struct console *console, struct error *err)
{
	const char *limit = console_value(console, "limit");
	struct target target;
	struct pg_result *rows;
	char *before = NULL, *now;
	int64_t page = PAGE;
	bool is_over, ok;

	if (limit != NULL)
		(void)value_bigint(limit, &page);
	(void)target_parse(console_value(console, "INSTANCE"), &target);
	do {
		ok = at_rest(console, &target, &is_over, err) &&
		     (rows = ask(console, page, err)) != NULL;
		if (!ok)
			break;
		now = fingerprint(rows);
		if (before == NULL || strcmp(before, now) != 0) {
			if (before != NULL)
				putc('\n', console->out);
			if (pg_rows(rows) > 0)
				print_page(
				    console, rows, page, "tree", tree_print);
		}
		free(before);
		before = now;
		pg_result_free(rows);
	} while (!is_over && at_rest_wait(console));
	free(before);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

enum exit_code
cmd_tree(struct console *console, struct error *err)
{
	if (console_flag(console, "follow") && !console_is_script(console))
		return follow(console, err);
	return show(console, "tree", tree_print, err);
}

/* A picture shows all tasks, unless --limit says how many. */
static enum exit_code
draw(struct console *console, struct error *err)
{
	const char *limit = console_value(console, "limit");
	struct pg_result *rows;
	int64_t count = 0;

	if (limit != NULL)
		(void)value_bigint(limit, &count);
	rows = ask(console, count, err);
	if (rows == NULL)
		return EXIT_FAILED;
	if (pg_rows(rows) == 0)
		console_print(console, rows);
	else
		gantt_print_svg(rows, console->out);
	pg_result_free(rows);
	return EXIT_DONE;
}

enum exit_code
cmd_gantt(struct console *console, struct error *err)
{
	const char *form = console_value(console, "as");

	if (form == NULL)
		return show(console, "gantt", gantt_print, err);
	if (strcmp(form, "svg") == 0)
		return draw(console, err);
	error_set(err, "gantt draws no %s", form);
	error_hint(err, "Use --as svg, or leave it out.");
	return EXIT_USAGE;
}
