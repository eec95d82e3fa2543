#include "console/watch_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "console/console.h"
#include "console/text.h"

enum {
	LISTED = 200, /* instances: those with failed tasks come first */
};

static const char running_sql[] =
    "select instance_id, workflow, key, state, failed, started_at,"
    "       round(extract(epoch from now() - started_at), 3) as elapsed_s,"
    "       count(*) over () as running,"
    "       count(*) filter (where failed > 0) over () as failing"
    "  from wf.instance_v where instance_id = any (array("
    "       select wf.list(p_failed => true, p_limit => $1::int)"
    "        union"
    "       select wf.list('{RUNNING,SUSPENDED,ABORTING}',"
    "                      p_limit => $1::int)))"
    " order by failed > 0 desc, instance_id desc limit $1";
static const char drivers_sql[] =
    "select name as driver, state, in_flight, slots,"
    "       array_to_string(transports, ', ') as transports,"
    "       array_to_string(capabilities, ', ') as capabilities"
    "  from wf.driver_v"
    " where state in ('live', 'draining')"
    "    or state = 'lost' and seen_at > now() - interval '1 hour'"
    " order by state = 'lost', name, driver_id";
static const char groups_sql[] =
    "select name as \"group\", held, max, waiting"
    "  from wf.group_v where held > 0 or waiting > 0 order by name";
static const char engine_sql[] =
    "select current_database(), state from wf.engine_v";
/*
 * One statement, so that the instance and its tree are of the same moment.  The
 * tree is asked for even if there is no such instance: it says so.  The view
 * counts the failed tasks, once and not for each row of the tree.
 */
static const char instance_sql[] =
    "with instance as materialized ("
    "       select workflow, instance_id, state, result, failed"
    "         from wf.instance_v where instance_id = $1::bigint)"
    "select i.workflow, i.instance_id, i.state as instance_state,"
    "       coalesce(i.result, ''), i.failed,"
    "       t.process_id, t.parent_id, t.depth, t.label, t.kind, t.state,"
    "       t.attempt, t.at, t.note, t.progress, t.elapsed_s"
    "  from wf.tree($1::bigint) t left join instance i on true"
    " where t.kind <> 'instance'";
static const char reasons_sql[] =
    "select detail from wf.explain($1::bigint, $2::bigint)"
    " where reason <> 'children' limit 3";

/* Asking ------------------------------------------------------------------- */

/* Query with up to two numbers as $1 and $2; 0 means null, or no parameter. */
static struct pg_result *
ask(const struct console *console, const char *sql, int64_t one, int64_t two,
    struct error *err)
{
	struct pg_params params;
	struct pg_result *result;

	pg_params_init(&params);
	if (one != 0)
		pg_params_add_bigint(&params, one);
	if (two != 0)
		pg_params_add_bigint(&params, two);
	else if (strstr(sql, "$2") != NULL)
		pg_params_add(&params, NULL);
	result = console_query_params(console, sql, &params, err);
	pg_params_release(&params);
	return result;
}

static const char *
text_of(const struct pg_result *rows, int column)
{
	const char *text = pg_value(rows, 0, column);

	return text != NULL ? text : "";
}

/* Looking ------------------------------------------------------------------ */

/* The rows of one look, and their place on the screen. */
struct look {
	const struct console *console;
	struct terminal terminal;
	struct page page;
	struct buf title;
};

/* Free the rows. */
static bool
put_table(
    struct look *look, struct pg_result *rows, const char *shown, bool has_ids)
{
	if (rows == NULL)
		return false;
	if (pg_rows(rows) > 0) {
		if (look->page.count > 0)
			page_add(&look->page, "");
		page_add_table(
		    &look->page, &look->terminal, rows, shown, has_ids);
	}
	pg_result_free(rows);
	return true;
}

/* "3 running", as far as the query has counted them */
static void
add_count(struct buf *title, int64_t count, const char *what)
{
	if (count >= LISTED)
		buf_addf(title, "%d or more %s", LISTED, what);
	else
		buf_addf(title, "%" PRId64 " %s", count, what);
}

/* "wf  3 running, 1 with failed tasks" */
static void
add_title(struct buf *title, const struct pg_result *engine,
    const struct pg_result *running)
{
	text_add_safe(title, text_of(engine, 0), "");
	buf_adds(title, "  ");
	if (pg_rows(running) == 0)
		buf_adds(title, "nothing runs");
	else
		add_count(title,
		    pg_value_bigint(running, 0, pg_column(running, "running")),
		    "running");
	if (pg_rows(running) > 0 &&
	    pg_value_bigint(running, 0, pg_column(running, "failing")) > 0) {
		buf_adds(title, ", ");
		add_count(title,
		    pg_value_bigint(running, 0, pg_column(running, "failing")),
		    "with failed tasks");
	}
	if (strcmp(text_of(engine, 1), "RUNNING") != 0)
		buf_addf(title, "; the engine is %s", text_of(engine, 1));
}

static bool
look_at_all(struct look *look, struct error *err)
{
	const struct console *console = look->console;
	struct pg_result *engine = ask(console, engine_sql, 0, 0, err);
	struct pg_result *running =
	    engine != NULL ? ask(console, running_sql, LISTED, 0, err) : NULL;

	if (running != NULL)
		add_title(&look->title, engine, running);
	pg_result_free(engine);
	return put_table(look, running,
	           "instance_id workflow key state failed elapsed_s", true) &&
	       put_table(
	           look, ask(console, groups_sql, 0, 0, err), NULL, false) &&
	       put_table(
	           look, ask(console, drivers_sql, 0, 0, err), NULL, false);
}

/* "nightly 7  RUNNING, 1 failed" */
static bool
look_at_instance(struct look *look, int64_t instance, struct error *err)
{
	struct pg_result *rows =
	    ask(look->console, instance_sql, instance, 0, err);
	struct buf *title = &look->title;

	if (rows == NULL)
		return false;
	if (pg_rows(rows) > 0) {
		text_add_safe(title, text_of(rows, 0), "");
		buf_addf(title, " %s  %s %s", text_of(rows, 1),
		    text_of(rows, 2), text_of(rows, 3));
		if (pg_value_bigint(rows, 0, 4) > 0)
			buf_addf(title, " %s failed", text_of(rows, 4));
		page_add_tree(&look->page, &look->terminal, rows);
	}
	pg_result_free(rows);
	return true;
}

bool
watch_view_look(struct watch_view *view, const struct console *console,
    size_t columns, struct error *err)
{
	struct look look = { .console = console,
		.terminal = console->terminal };
	bool ok;

	look.terminal.width = columns;
	buf_init(&look.title, 0);
	ok = view->instance != 0 ? look_at_instance(&look, view->instance, err)
	                         : look_at_all(&look, err);
	if (!ok) {
		page_release(&look.page);
		buf_release(&look.title);
		return false;
	}
	page_release(&view->page);
	view->page = look.page;
	free(view->title);
	view->title = buf_take(&look.title);
	return true;
}

/* Reasons ------------------------------------------------------------------ */

static void
forget_reasons(struct watch_view *view)
{
	while (view->reason_count > 0)
		free(view->reasons[--view->reason_count]);
}

bool
watch_view_explain(struct watch_view *view, const struct console *console,
    int64_t id, struct error *err)
{
	struct pg_result *rows;
	struct buf text;
	int row;

	forget_reasons(view);
	if (id == 0)
		return true;
	rows = view->instance != 0
	           ? ask(console, reasons_sql, view->instance, id, err)
	           : ask(console, reasons_sql, id, 0, err);
	for (row = 0;
	     rows != NULL && row < pg_rows(rows) && row < WATCH_REASONS;
	     row++) {
		buf_init(&text, 0);
		text_add_safe(&text, pg_value(rows, row, 0), "");
		view->reasons[view->reason_count++] = buf_take(&text);
	}
	pg_result_free(rows);
	return rows != NULL;
}

void
watch_view_release(struct watch_view *view)
{
	page_release(&view->page);
	free(view->title);
	forget_reasons(view);
}
