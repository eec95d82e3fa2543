/*
 * cmd_tree.c - the processes of an instance, page by page: as a tree (tree.h), or
 * when they ran (gantt.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/pg.h"
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

/* So many processes, or all if there is no limit. */
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

/* The rows of the first `limit` processes. A process may have several. */
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

/* A process behind the page says that it is not the last one. */
static void
print_page(const struct console *console, const struct pg_result *rows,
    int64_t page, const char *word, print_fn *print)
{
	int count = rows_of(rows, page);

	print(&console->terminal, rows, count, stdout);
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

enum exit_code
cmd_tree(struct console *console, struct error *err)
{
	return show(console, "tree", tree_print, err);
}

/* A picture has all of the tasks, unless --limit says how many. */
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
		gantt_print_svg(rows, stdout);
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
