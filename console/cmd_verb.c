/*
 * cmd_verb.c - retry, ignore, resolve, raise, cancel, abort: act on targets.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/selector.h"
#include "console/session.h"

/* What it would do: do it, and take it back. */
static struct pg_result *
preview(const struct console *console, struct error *err)
{
	struct pg_result *rows;

	if (!pg_script(
	        console->pg, "begin isolation level read committed", err))
		return NULL;
	rows = console_query(console, console->invocation.command->sql, err);
	if (rows != NULL && !pg_script(console->pg, "rollback", err)) {
		pg_result_free(rows);
		return NULL;
	}
	return rows;
}

static int
count(const struct pg_result *rows, const char *answer)
{
	int column = pg_column(rows, "answer"), row, n = 0;

	for (row = 0; row < pg_rows(rows); row++)
		n += strcmp(pg_value(rows, row, column), answer) == 0;
	return n;
}

/* Show someone what would be done, and let them decide. */
static bool
ask_about(const struct console *console, const struct pg_result *rows)
{
	const char *verb = console->invocation.command->pattern;
	char *question = xasprintf("%.*s %d of %d?", (int)strcspn(verb, " "),
	    verb, count(rows, "done"), pg_rows(rows));
	bool yes;

	if (!console_is_script(console))
		console_print(console, rows);
	fflush(stdout);
	yes = terminal_ask(question);
	free(question);
	return yes;
}

/*
 * Whether to go on.  One target needs no question; for several someone has
 * to be there to answer it, unless --yes has.
 */
static bool
may_act(const struct console *console, const struct selector *selector,
    enum exit_code *code, struct error *err)
{
	struct pg_result *rows;
	int targets;

	if (console_flag(console, "yes") || selector->is_single)
		return true;
	*code = EXIT_FAILED;
	rows = preview(console, err);
	if (rows == NULL)
		return false;
	targets = pg_rows(rows);
	if (targets > 1 && !terminal_can_ask()) {
		*code = EXIT_USAGE;
		error_set(
		    err, "these are %d targets; nothing was done", targets);
		error_hint(err, "With --yes it is done without asking.");
	} else if (targets > 1 && !ask_about(console, rows)) {
		error_set(err, "nothing was done");
	}
	pg_result_free(rows);
	return err->message == NULL;
}

static enum exit_code
act(const struct console *console, struct error *err)
{
	struct pg_result *rows =
	    console_query(console, console->invocation.command->sql, err);
	enum exit_code code = EXIT_DONE;

	if (rows == NULL)
		return EXIT_FAILED;
	console_print(console, rows);
	if (pg_rows(rows) == 0) {
		error_set(err, "nothing matches");
		error_hint(err, "`wf-console list` and `wf-console tree` show "
		                "what there is.");
		code = EXIT_FAILED;
	} else if (count(rows, "refused") > 0) {
		code = EXIT_REFUSED;
	}
	pg_result_free(rows);
	return code;
}

enum exit_code
cmd_verb(struct console *console, struct error *err)
{
	struct selector selector = { 0 };
	enum exit_code code = EXIT_USAGE;

	if (selector_init(&selector, &console->invocation, err)) {
		invocation_add(
		    &console->invocation, "selector", "JSON", selector.json);
		code = EXIT_FAILED;
		if (session_open(console, NEEDS_WORKSPACE, err) &&
		    may_act(console, &selector, &code, err))
			code = act(console, err);
	}
	selector_release(&selector);
	return code;
}
