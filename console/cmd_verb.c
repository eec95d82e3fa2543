/*
 * cmd_verb.c - retry, ignore, resolve, raise, cancel, abort, halt, suspend,
 * resume: act on targets; action, which is how lb-workflow writes them; purge,
 * which goes batch by batch; and engine, which has no targets.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/suggestion.h"
#include "console/commands.h"
#include "console/consent.h"
#include "console/console.h"
#include "console/selector.h"
#include "console/session.h"

/* Instances per transaction. */
#define PURGE_BATCH "1000"

/*
 * Each target with its answer, and everything that changed; the target's own
 * move is the first one of its process.
 */
static const char changes_sql[] =
    "with target as ("
    "    select * from jsonb_to_recordset(:answers)"
    "        as t (instance_id bigint, process_id bigint, answer text, detail "
    "text)"
    "), change as ("
    "    select c.*, row_number() over (partition by c.instance_id, "
    "c.process_id order by c.nth) = 1 as is_first"
    "      from wf.changes(array(select distinct t.instance_id from target t))"
    "           with ordinality c (instance_id, process_id, label, was, event, "
    "state, nth)"
    ")"
    "select coalesce(c.instance_id, t.instance_id) as instance_id,"
    "       coalesce(c.process_id, t.process_id) as process_id,"
    "       c.label, nullif(c.was, '') as was, c.event, c.state,"
    "       coalesce(t.answer, 'follows') as answer,"
    "       case when c.event is null then t.detail end as detail"
    "  from target t"
    "  full join change c on c.instance_id = t.instance_id"
    "        and case when c.is_first then coalesce(c.process_id, 0) end = "
    "coalesce(t.process_id, 0)"
    " order by 1, c.nth, 2";

/* Do it, ask with `look` what has changed, and roll it back. */
static struct pg_result *
try_out(struct console *console,
    struct pg_result *(*look)(struct console *console, struct error *err),
    struct error *err)
{
	struct pg_result *rows;

	if (!session_begin(console, err))
		return NULL;
	rows = look(console, err);
	if (rows != NULL && !pg_script(console->pg, "rollback", err)) {
		pg_result_free(rows);
		return NULL;
	}
	return rows;
}

/* Act: the answer of each target. */
static struct pg_result *
do_verb(struct console *console, struct error *err)
{
	return console_query(console, console->invocation.command->sql, err);
}

/* The same, and every change that follows from it. */
static struct pg_result *
do_and_compare(struct console *console, struct error *err)
{
	char *sql = xasprintf(
	    "select json_agg(t) from (%s) t", console->invocation.command->sql);
	struct pg_result *answers = console_query(console, sql, err);
	struct pg_result *rows = NULL;

	free(sql);
	if (answers != NULL) {
		invocation_add(&console->invocation, "answers", "JSON",
		    pg_value(answers, 0, 0));
		rows = console_query(console, changes_sql, err);
		invocation_drop(&console->invocation, 1);
	}
	pg_result_free(answers);
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

/* Targets may have changed while the question was open. */
static void
tell_changed(
    const struct console *console, const struct selector *selector, int done)
{
	if (done < selector->counted)
		console_note(console,
		    "%" PRId64 " of %" PRId64
		    " targets had changed since they were counted",
		    selector->counted - done, selector->counted);
}

/* Act; or with --dry-run show, by `look`, what would happen. */
static enum exit_code
act(struct console *console, const struct selector *selector,
    struct pg_result *(*look)(struct console *console, struct error *err),
    struct error *err)
{
	struct pg_result *rows = console_flag(console, "dry-run")
	                             ? try_out(console, look, err)
	                             : do_verb(console, err);
	enum exit_code code = EXIT_DONE;

	if (rows == NULL)
		return EXIT_FAILED;
	console_print(console, rows);
	if (count(rows, "refused") > 0)
		code = EXIT_REFUSED;
	if (console_flag(console, "dry-run"))
		console_note(console, "nothing was done: this is a dry run");
	else if (selector != NULL)
		tell_changed(console, selector, count(rows, "done"));
	pg_result_free(rows);
	return code;
}

/* One process needs no question, and neither does a dry run. */
static bool
may_act(struct console *console, struct selector *selector,
    enum exit_code *code, struct error *err)
{
	return console_flag(console, "yes") ||
	       console_flag(console, "dry-run") || selector->is_single ||
	       consent_ask(console, selector, code, err);
}

/* Read the targets of the command line, ask about them, and act on them. */
static enum exit_code
on_target(struct console *console,
    enum exit_code (*do_it)(struct console *console,
        const struct selector *selector, struct error *err),
    struct error *err)
{
	struct selector selector = { 0 };
	enum exit_code code = EXIT_USAGE;

	if (selector_init(&selector, &console->invocation, err)) {
		code = EXIT_FAILED;
		if (session_open(console, NEEDS_WORKSPACE, err) &&
		    may_act(console, &selector, &code, err)) {
			invocation_add(&console->invocation, "selector", "JSON",
			    selector.json);
			code = do_it(console, &selector, err);
		}
	}
	selector_release(&selector);
	return code;
}

static enum exit_code
act_and_compare(
    struct console *console, const struct selector *selector, struct error *err)
{
	return act(console, selector, do_and_compare, err);
}

enum exit_code
cmd_verb(struct console *console, struct error *err)
{
	return on_target(console, act_and_compare, err);
}

/* The next batch, after the last row of the one before. */
static struct pg_result *
purge_batch(
    struct console *console, const struct pg_result *before, struct error *err)
{
	struct pg_result *rows;

	invocation_add(&console->invocation, "batch", "COUNT", PURGE_BATCH);
	if (before != NULL)
		invocation_add(&console->invocation, "after", "INSTANCE",
		    pg_value(before, pg_rows(before) - 1, 0));
	rows = do_verb(console, err);
	invocation_drop(&console->invocation, before != NULL ? 2 : 1);
	return rows;
}

/* Print all batches as one table; each is committed when it is printed. */
static enum exit_code
purge_all(
    struct console *console, const struct selector *selector, struct error *err)
{
	struct pg_result *first = purge_batch(console, NULL, err), *rows, *next;
	struct column *columns;
	struct output output;
	int refused = 0, done = 0;

	if (first == NULL)
		return EXIT_FAILED;
	columns = console_columns(first);
	console_begin(console, &output, columns, (size_t)pg_columns(first));
	for (rows = first; rows != NULL && pg_rows(rows) > 0; rows = next) {
		console_add(&output, rows);
		refused += count(rows, "refused");
		done += count(rows, "done");
		next = purge_batch(console, rows, err);
		if (rows != first)
			pg_result_free(rows);
	}
	output_end(&output);
	free(columns);
	if (rows != first)
		pg_result_free(rows);
	else
		console_note(console, "%s", console->invocation.command->none);
	pg_result_free(first);
	if (rows == NULL)
		return EXIT_FAILED;
	tell_changed(console, selector, done);
	return refused > 0 ? EXIT_REFUSED : EXIT_DONE;
}

static enum exit_code
purge(
    struct console *console, const struct selector *selector, struct error *err)
{
	return console_flag(console, "dry-run")
	           ? act(console, selector, do_verb, err)
	           : purge_all(console, selector, err);
}

enum exit_code
cmd_purge(struct console *console, struct error *err)
{
	return on_target(console, purge, err);
}

enum exit_code
cmd_engine(struct console *console, struct error *err)
{
	return act(console, NULL, do_verb, err);
}

/* The verb called `name`, or NULL: then `err` says so. */
static const struct command *
find_verb(const char *name, struct error *err)
{
	const struct command *command = NULL;
	struct suggestion suggestion;
	size_t len;

	suggestion_init(&suggestion, name);
	while ((command = command_next(command)) != NULL) {
		if (command->run != cmd_verb)
			continue;
		len = pattern_words(command->pattern);
		if (strlen(name) == len &&
		    strncmp(command->pattern, name, len) == 0)
			return command;
		if (!command->destroys)
			suggestion_offer(&suggestion, command->pattern, len);
	}
	error_set(err, "there is no action \"%s\"", name);
	error_hint(err,
	    "There are retry, ignore, resolve, raise, cancel, abort, "
	    "halt, suspend and resume.");
	if (suggestion.best != NULL)
		error_hint(err, "Did you mean %.*s?", (int)suggestion.best_len,
		    suggestion.best);
	return NULL;
}

/* Some options have another name in lb-workflow. */
enum exit_code
cmd_action(struct console *console, struct error *err)
{
	const char *verb = console_value(console, "action");
	const char *name = console_value(console, "name");

	if (verb == NULL) {
		error_set(err, "no action is given");
		error_hint(err, "Name it with -a, as `wf-console action -a "
		                "retry --failed`.");
		return EXIT_USAGE;
	}
	console->invocation.command = find_verb(verb, err);
	if (console->invocation.command == NULL)
		return EXIT_USAGE;
	if (console_flag(console, "output") && strcmp(verb, "resolve") != 0) {
		error_set(err, "--output is for resolve, not for %s", verb);
		return EXIT_USAGE;
	}
	if (console_flag(console, "cascade") && strcmp(verb, "ignore") != 0) {
		error_set(err, "--cascade is for ignore, not for %s", verb);
		return EXIT_USAGE;
	}
	if (console_flag(console, "undo") && strcmp(verb, "abort") != 0) {
		error_set(err, "--undo is for abort, not for %s", verb);
		return EXIT_USAGE;
	}
	if (name != NULL)
		invocation_add(
		    &console->invocation, "workflow", "WORKFLOW", name);
	return cmd_verb(console, err);
}
