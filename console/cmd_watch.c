/*
 * cmd_watch.c - a live view: what runs in the workspace, or one instance.
 *
 *	wf  3 running, 1 with failed tasks
 *	  INSTANCE  WORKFLOW  KEY  STATE    FAILED  STARTED
 *	→        7  nightly        RUNNING       1  12:00:01
 *	  …
 *	failed: http: answered 503; waits for retry, ignore, resolve or raise
 *	j/k move  enter open  b back  q quit                         12:01:00
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mono.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/page.h"
#include "console/screen.h"
#include "console/session.h"
#include "console/text.h"

enum {
	REFRESH_MS = 1000,
	BUSY = 9,    /* of ten parts of the time at most one is asking */
	GUTTER = 2,  /* columns for the arrow */
	REASONS = 3, /* lines that tell about what is chosen */
	AROUND = 2,  /* the first line and the last */
};

static const char running_sql[] =
    "select instance_id, workflow, key, state, failed, started_at,"
    "       count(*) over () as running,"
    "       count(*) filter (where failed > 0) over () as failing"
    "  from wf.instance_v where state not in ('END', 'ABORTED')"
    " order by failed > 0 desc, instance_id desc limit 200";
static const char drivers_sql[] =
    "select name as driver, state, in_flight, slots,"
    "       array_to_string(transports, ', ') as transports,"
    "       array_to_string(capabilities, ', ') as capabilities"
    "  from wf.driver_v"
    " where state in ('live', 'draining')"
    "    or state = 'lost' and seen_at > now() - interval '1 hour'"
    " order by name, driver_id";
static const char groups_sql[] =
    "select name as \"group\", held, max, waiting"
    "  from wf.group_v where held > 0 or waiting > 0 order by name";
static const char engine_sql[] =
    "select current_database(), state from wf.engine_v";
static const char instance_sql[] =
    "select workflow, instance_id, state, coalesce(result, ''), failed"
    "  from wf.instance_v where instance_id = $1::bigint";
static const char tree_sql[] =
    "select process_id, parent_id, depth, label, kind, state, attempt, at, note"
    "  from wf.tree($1::bigint)";
static const char reasons_sql[] =
    "select detail from wf.explain($1::bigint, $2::bigint)"
    " where reason <> 'children' limit 3";

struct watch {
	struct console *console;
	struct screen *screen;
	int64_t instance; /* 0: all that run */
	int64_t above;    /* the one to come back to, among all; -1: none */
	struct page page;
	char *title;
	size_t first, chosen; /* lines: at the top, with the arrow */
	char *reasons[REASONS];
	size_t reason_count;
	char *trouble; /* why what is shown is old; NULL: it is not */
};

/* Asking ------------------------------------------------------------------- */

/* With up to two numbers as $1 and $2; 0 is none, or null. */
static struct pg_result *
ask(const struct watch *watch, const char *sql, int64_t one, int64_t two,
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
	result = console_query_params(watch->console, sql, &params, err);
	pg_params_release(&params);
	return result;
}

/* The terminal beside the gutter. */
static struct terminal
narrowed(const struct watch *watch)
{
	struct terminal terminal = watch->console->terminal;
	size_t columns = screen_columns(watch->screen);

	terminal.width = columns > GUTTER ? columns - GUTTER : 1;
	return terminal;
}

/* The rows are let go. */
static bool
put_table(struct watch *watch, struct page *page, struct pg_result *rows,
    const char *shown, bool has_ids)
{
	const struct terminal terminal = narrowed(watch);

	if (rows == NULL)
		return false;
	if (pg_rows(rows) > 0) {
		if (page->count > 0)
			page_add(page, "");
		page_add_table(page, &terminal, rows, shown, has_ids);
	}
	pg_result_free(rows);
	return true;
}

static const char *
text_of(const struct pg_result *rows, int column)
{
	const char *text = pg_value(rows, 0, column);

	return text != NULL ? text : "";
}

/* "wf  3 running, 1 with failed tasks" */
static void
add_title(struct buf *title, const struct pg_result *engine,
    const struct pg_result *running)
{
	text_add_safe(title, text_of(engine, 0), "");
	if (pg_rows(running) == 0)
		buf_adds(title, "  nothing runs");
	else
		buf_addf(title, "  %s running", text_of(running, 6));
	if (pg_rows(running) > 0 && pg_value_bigint(running, 0, 7) > 0)
		buf_addf(title, ", %s with failed tasks", text_of(running, 7));
	if (strcmp(text_of(engine, 1), "RUNNING") != 0)
		buf_addf(title, "; the engine is %s", text_of(engine, 1));
}

static bool
look_at_all(struct watch *watch, struct page *page, struct buf *title,
    struct error *err)
{
	struct pg_result *engine = ask(watch, engine_sql, 0, 0, err);
	struct pg_result *running =
	    engine != NULL ? ask(watch, running_sql, 0, 0, err) : NULL;

	if (running != NULL)
		add_title(title, engine, running);
	pg_result_free(engine);
	return put_table(watch, page, running,
	           "instance_id workflow key state failed started_at", true) &&
	       put_table(watch, page, ask(watch, groups_sql, 0, 0, err), NULL,
	           false) &&
	       put_table(watch, page, ask(watch, drivers_sql, 0, 0, err), NULL,
	           false);
}

/* "nightly 7  RUNNING, 1 failed" */
static bool
look_at_instance(struct watch *watch, struct page *page, struct buf *title,
    struct error *err)
{
	const struct terminal terminal = narrowed(watch);
	struct pg_result *tree = ask(watch, tree_sql, watch->instance, 0, err);
	struct pg_result *about =
	    tree != NULL ? ask(watch, instance_sql, watch->instance, 0, err)
	                 : NULL;

	if (about != NULL && pg_rows(about) > 0 && pg_rows(tree) > 0) {
		text_add_safe(title, text_of(about, 0), "");
		buf_addf(title, " %s  %s %s", text_of(about, 1),
		    text_of(about, 2), text_of(about, 3));
		if (pg_value_bigint(about, 0, 4) > 0)
			buf_addf(title, " %s failed", text_of(about, 4));
		page_add_tree(page, &terminal, tree);
	}
	pg_result_free(tree);
	pg_result_free(about);
	return about != NULL;
}

static void
forget_reasons(struct watch *watch)
{
	while (watch->reason_count > 0)
		free(watch->reasons[--watch->reason_count]);
}

/* Why what is chosen does not go on. */
static bool
explain(struct watch *watch, struct error *err)
{
	struct page *page = &watch->page;
	int64_t id = page->count > 0 ? page->lines[watch->chosen].id : 0;
	struct pg_result *rows;
	struct buf text;
	int row;

	forget_reasons(watch);
	if (id == 0)
		return true;
	rows = watch->instance != 0
	           ? ask(watch, reasons_sql, watch->instance, id, err)
	           : ask(watch, reasons_sql, id, 0, err);
	for (row = 0; rows != NULL && row < pg_rows(rows) && row < REASONS;
	     row++) {
		buf_init(&text, 0);
		text_add_safe(&text, pg_value(rows, row, 0), "");
		watch->reasons[watch->reason_count++] = buf_take(&text);
	}
	pg_result_free(rows);
	return rows != NULL;
}

static bool
look(struct watch *watch, struct error *err)
{
	struct page page = { 0 };
	struct buf title;
	bool ok;

	buf_init(&title, 0);
	ok = watch->instance != 0 ? look_at_instance(watch, &page, &title, err)
	                          : look_at_all(watch, &page, &title, err);
	if (!ok) {
		page_release(&page);
		buf_release(&title);
		return false;
	}
	watch->chosen =
	    watch->page.count > 0
	        ? page_find(
	              &page, watch->page.lines[watch->chosen].id, watch->chosen)
	        : page_first(&page);
	page_release(&watch->page);
	watch->page = page;
	free(watch->title);
	watch->title = buf_take(&title);
	return explain(watch, err);
}

/* A lost connection ---------------------------------------------------------- */

static bool
is_lost(const struct watch *watch, const struct error *err)
{
	return watch->console->pg == NULL || !pg_is_alive(watch->console->pg) ||
	       strncmp(err->sqlstate, "08", 2) == 0 ||
	       strncmp(err->sqlstate, "57P", 3) == 0;
}

/* False only where another try can't help. */
static bool
retry_later(struct watch *watch, struct error *err)
{
	struct buf text;

	if (!is_lost(watch, err))
		return false;
	pg_free(watch->console->pg);
	watch->console->pg = NULL;
	buf_init(&text, 0);
	buf_adds(&text, "no connection, trying on: ");
	text_add_safe(&text, err->message, "");
	free(watch->trouble);
	watch->trouble = buf_take(&text);
	error_release(err);
	return true;
}

static bool
refresh(struct watch *watch, struct error *err)
{
	if ((watch->console->pg == NULL &&
	        !session_open(watch->console, NEEDS_WORKSPACE, err)) ||
	    !look(watch, err))
		return retry_later(watch, err);
	free(watch->trouble);
	watch->trouble = NULL;
	return true;
}

/* Drawing ------------------------------------------------------------------ */

/* Lines of the page that are seen at once. */
static size_t
visible(const struct watch *watch)
{
	size_t rows = screen_rows(watch->screen);
	size_t others = AROUND + watch->reason_count;

	return rows > others ? rows - others : 1;
}

static void
add_line(
    struct watch *watch, enum style style, const char *before, const char *text)
{
	const struct terminal *terminal = &watch->console->terminal;
	size_t columns = screen_columns(watch->screen);
	size_t width = text_width(before) + text_width(text);
	struct buf line, fitted;

	buf_init(&line, 0);
	buf_init(&fitted, 0);
	buf_addf(&line, "%s%s", before, text);
	text_add_fitted(&fitted, line.data, width < columns ? width : columns,
	    false, terminal->glyphs->more);
	buf_truncate(&line, 0);
	buf_addf(&line, "%s%s%s", terminal_begin(terminal, style), fitted.data,
	    terminal_end(terminal, style));
	screen_add(watch->screen, line.data);
	buf_release(&fitted);
	buf_release(&line);
}

static void
draw_page(struct watch *watch)
{
	const struct terminal *terminal = &watch->console->terminal;
	size_t height = visible(watch), i;
	struct buf line;

	if (watch->first > watch->chosen)
		watch->first = watch->chosen;
	if (watch->chosen >= watch->first + height)
		watch->first = watch->chosen - height + 1;
	buf_init(&line, 0);
	for (i = watch->first; i < watch->first + height; i++) {
		buf_truncate(&line, 0);
		if (i < watch->page.count)
			buf_addf(&line, "%s%s",
			    i == watch->chosen ? terminal->glyphs->arrow : " ",
			    i == watch->chosen &&
			            text_width(terminal->glyphs->arrow) > 1
			        ? ""
			        : " ");
		if (i < watch->page.count)
			buf_adds(&line, watch->page.lines[i].text);
		screen_add(watch->screen, line.data);
	}
	buf_release(&line);
}

static void
draw(struct watch *watch)
{
	static const char help[] = "j/k move  enter open  b back  q quit";
	time_t now = time(NULL);
	struct tm local;
	char clock[16];
	size_t i;

	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "  %H:%M:%S", &local);
	if (watch->trouble != NULL)
		add_line(watch, STYLE_BAD, "", watch->trouble);
	else
		add_line(watch, STYLE_BOLD, "", watch->title);
	draw_page(watch);
	for (i = 0; i < watch->reason_count; i++)
		add_line(watch, STYLE_WAIT, "", watch->reasons[i]);
	add_line(watch, STYLE_DIM, help,
	    strlen(help) + strlen(clock) <= screen_columns(watch->screen)
	        ? clock
	        : "");
	screen_show(watch->screen);
}

/* Keys --------------------------------------------------------------------- */

/* False: nothing has to be asked for. */
static bool
move(struct watch *watch, int64_t by)
{
	int64_t last = (int64_t)watch->page.count - 1;
	int64_t to = (int64_t)watch->chosen + by;

	watch->chosen = (size_t)(to < 0 || last < 0 ? 0
	                         : to > last        ? last
	                                            : to);
	return false;
}

/* Another view: from its top, unless `id` is to be found again. */
static void
enter(struct watch *watch, int64_t instance, int64_t above, int64_t id)
{
	watch->instance = instance;
	watch->above = above;
	page_release(&watch->page);
	watch->first = watch->chosen = 0;
	if (id > 0) {
		page_add(&watch->page, "");
		watch->page.lines[0].id = id;
	}
}

/* Whether what is shown has to be asked for again. */
static bool
obey(struct watch *watch, enum key key)
{
	int64_t height = (int64_t)visible(watch);
	int64_t id = watch->chosen < watch->page.count
	                 ? watch->page.lines[watch->chosen].id
	                 : 0;

	switch (key) {
	case KEY_UP:
		return move(watch, -1);
	case KEY_DOWN:
		return move(watch, 1);
	case KEY_PAGE_UP:
		return move(watch, -height);
	case KEY_PAGE_DOWN:
		return move(watch, height);
	case KEY_FIRST:
		return move(watch, INT32_MIN);
	case KEY_LAST:
		return move(watch, INT32_MAX);
	case KEY_OPEN:
		if (watch->instance == 0 && id != 0)
			enter(watch, id, id, 0);
		return true;
	case KEY_BACK:
		if (watch->instance != 0 && watch->above >= 0)
			enter(watch, 0, -1, watch->above);
		return true;
	default:
		return true;
	}
}

/* Until it is enough; false if something ended it. */
static bool
run(struct watch *watch, struct error *err)
{
	enum key key = KEY_NONE;
	struct mono begun;
	int64_t rest_ms = 0;

	do {
		begun = mono_now();
		if (obey(watch, key)) {
			if (!refresh(watch, err))
				return false;
			rest_ms = BUSY * mono_diff_ms(mono_now(), begun);
			if (rest_ms < REFRESH_MS)
				rest_ms = REFRESH_MS;
		} else if (watch->console->pg != NULL && !explain(watch, err) &&
		           !retry_later(watch, err)) {
			return false;
		}
		draw(watch);
		key = screen_wait(watch->screen, (int)rest_ms);
	} while (key != KEY_QUIT);
	return true;
}

enum exit_code
cmd_watch(struct console *console, struct error *err)
{
	const char *instance = console_value(console, "INSTANCE");
	struct watch watch = { .console = console, .above = -1 };
	bool ok;

	/* who waits for a connection does not see keys */
	setenv("PGCONNECT_TIMEOUT", "2", 0);
	if (instance != NULL)
		watch.instance = strtoll(instance, NULL, 10);
	if (!console_is_script(console))
		watch.screen = screen_open();
	if (watch.screen == NULL) {
		error_set(err, "watch draws on a terminal, and this is none");
		error_hint(err, "`wf-console list` and `wf-console tree "
		                "INSTANCE` print how things stand.");
		return EXIT_USAGE;
	}
	ok = run(&watch, err);
	screen_close(watch.screen);
	page_release(&watch.page);
	free(watch.title);
	free(watch.trouble);
	forget_reasons(&watch);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
