/*
 * cmd_tree.c - the processes of an instance, as a tree (tree.h).
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/error.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/tree.h"
#include "console/value.h"

enum {
	PAGE = 200, /* processes */
};

/* So many rows, or all if there is no limit. */
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

/* A row behind the page says that it is not the last one. */
static void
print_page(
    const struct console *console, const struct pg_result *rows, int64_t page)
{
	bool is_last = pg_rows(rows) <= page;
	int count = is_last ? pg_rows(rows) : (int)page;

	tree_print(&console->terminal, rows, count, stdout);
	if (!is_last)
		console_note(console,
		    "there is more: `wf-console tree %s --after %s` goes on",
		    console_value(console, "INSTANCE"),
		    pg_value(rows, count - 1, pg_column(rows, "process_id")));
}

enum exit_code
cmd_tree(struct console *console, struct error *err)
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
		print_page(console, rows, page);
	pg_result_free(rows);
	return EXIT_DONE;
}
