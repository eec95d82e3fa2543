/*
 * cmd_explain.c - why something waits: reasons, and notes under a heading of
 * their own.
 */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/output.h"

/* A task that a driver may take has notes in place of reasons. */
static bool
is_note(const struct pg_result *result, int row)
{
	const char *reason = pg_value(result, row, pg_column(result, "reason"));

	return reason != NULL && strcmp(reason, "note") == 0;
}

static int
count_notes(const struct pg_result *result)
{
	int count = 0, row;

	for (row = 0; row < pg_rows(result); row++)
		count += is_note(result, row);
	return count;
}

/* Print a table of the notes, or of all rows that are not notes. */
static void
put(const struct console *console, const struct pg_result *result, bool notes)
{
	struct column *columns = console_columns(result);
	int count = pg_columns(result), row, i;
	const char **cells = xcalloc((size_t)count, sizeof(*cells));
	struct output output = {
		.format = console->format,
		.terminal = &console->terminal,
		.file = console->out,
		.shown = notes ? "process_id label detail since" : NULL,
	};

	output_begin(&output, columns, (size_t)count);
	for (row = 0; row < pg_rows(result); row++) {
		if (is_note(result, row) != notes)
			continue;
		for (i = 0; i < count; i++)
			cells[i] = pg_value(result, row, i);
		output_row(&output, cells);
	}
	output_end(&output);
	free(cells);
	free(columns);
}

enum exit_code
cmd_explain(struct console *console, struct error *err)
{
	const struct command *command = console->invocation.command;
	struct pg_result *result = console_query(console, command->sql, err);
	int notes;

	if (result == NULL)
		return EXIT_FAILED;
	notes = count_notes(result);
	if (notes == 0 || console_is_script(console) || console->is_record) {
		console_print(console, result);
	} else {
		if (notes < pg_rows(result))
			put(console, result, false);
		else
			console_note(console, "%s", command->none);
		fprintf(console->out, "%snotes\n",
		    notes < pg_rows(result) ? "\n" : "");
		put(console, result, true);
	}
	pg_result_free(result);
	return EXIT_DONE;
}
