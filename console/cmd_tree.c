/*
 * cmd_tree.c - the processes of an instance, as a tree (tree.h).
 */
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/tree.h"

enum exit_code
cmd_tree(struct console *console, struct error *err)
{
	const struct command *command = console->invocation.command;
	struct pg_result *rows = console_query(console, command->sql, err);

	if (rows == NULL)
		return EXIT_FAILED;
	if (console_is_script(console))
		console_print(console, rows);
	else
		tree_print(&console->terminal, rows, stdout);
	pg_result_free(rows);
	return EXIT_DONE;
}
