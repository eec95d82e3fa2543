#include "console/consent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/console.h"
#include "console/selector.h"
#include "console/text.h"

enum { NAMED = 5 }; /* workflows that the question names */

/* A row for each workflow, most targets first; the last row is for all. */
static const char preview_sql[] =
    "select workflow, count(*) as targets, count(process_id) as processes,"
    "       count(distinct instance_id) as instances,"
    "       max(instance_id) as instance,"
    "       coalesce(range_agg(int8range(x.id, x.id, '[]')), '{}')::text"
    "  from wf.preview(:verb, :selector) v"
    " cross join lateral (select coalesce(v.process_id, v.instance_id)) x (id)"
    " where answer = 'done'"
    " group by rollup (workflow)"
    " order by grouping(workflow), targets desc, workflow";

enum { WORKFLOW, TARGETS, PROCESSES, INSTANCES, INSTANCE, AMONG };

static void
add_count(struct buf *text, int64_t count, const char *one, const char *many)
{
	buf_addf(text, "%" PRId64 " %s", count, count == 1 ? one : many);
}

static void
add_workflows(struct buf *text, const struct pg_result *rows)
{
	int count = pg_rows(rows) - 1, row;

	if (count == 1) {
		buf_adds(text, " of ");
		text_add_safe(text, pg_value(rows, 0, WORKFLOW), "");
		return;
	}
	buf_addf(text, " of %d workflows (", count);
	for (row = 0; row < count && row < NAMED; row++) {
		buf_adds(text, row > 0 ? ", " : "");
		text_add_safe(text, pg_value(rows, row, WORKFLOW), "");
		buf_addf(text, " %s", pg_value(rows, row, TARGETS));
	}
	buf_adds(text, count > NAMED ? ", ...)" : ")");
}

/*
 * "30 processes in 3 instances of 2 workflows (nightly 28, load 2)"
 */
static char *
describe(const struct pg_result *rows)
{
	int all = pg_rows(rows) - 1;
	int64_t processes = pg_value_bigint(rows, all, PROCESSES);
	struct buf text;

	buf_init(&text, 0);
	if (processes > 0) {
		add_count(&text, processes, "process", "processes");
		buf_adds(&text, " in ");
	}
	add_count(&text, pg_value_bigint(rows, all, INSTANCES), "instance",
	    "instances");
	add_workflows(&text, rows);
	return buf_take(&text);
}

static struct pg_result *
look(struct console *console, const struct selector *selector, const char *verb,
    struct error *err)
{
	struct pg_result *rows;

	invocation_add(&console->invocation, "verb", "TEXT", verb);
	invocation_add(
	    &console->invocation, "selector", "JSON", selector->json);
	rows = console_query(console, preview_sql, err);
	invocation_drop(&console->invocation, 2);
	return rows;
}

/* Say what the verb would touch, and ask whether it may. */
static bool
decide(const struct pg_result *rows, const char *verb, enum exit_code *code,
    struct error *err)
{
	char *touched = describe(rows), *question;

	if (!terminal_can_ask()) {
		*code = EXIT_USAGE;
		error_set(
		    err, "%s would touch %s; nothing was done", verb, touched);
		error_hint(err, "With --yes it is done without asking.");
	} else {
		question = xasprintf("%s %s?", verb, touched);
		if (!terminal_ask(question))
			error_set(err, "nothing was done");
		free(question);
	}
	free(touched);
	return err->message == NULL;
}

bool
consent_ask(struct console *console, struct selector *selector,
    enum exit_code *code, struct error *err)
{
	const char *pattern = console->invocation.command->pattern;
	char *verb = xstrndup(pattern, strcspn(pattern, " "));
	struct pg_result *rows = look(console, selector, verb, err);
	int all = rows != NULL ? pg_rows(rows) - 1 : 0;
	bool ok = false;

	*code = EXIT_FAILED;
	if (rows != NULL) {
		selector->counted = pg_value_bigint(rows, all, TARGETS);
		selector_narrow(selector, pg_value(rows, all, AMONG),
		    pg_value_bigint(rows, all, INSTANCE));
		ok = selector->counted <= 1 || decide(rows, verb, code, err);
	}
	pg_result_free(rows);
	free(verb);
	return ok;
}
