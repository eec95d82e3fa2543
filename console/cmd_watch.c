/*
 * cmd_watch.c - a live view: what runs in the workspace, or one instance.
 *
 *	wf  3 running, 1 with failed tasks
 *	  INSTANCE  WORKFLOW  KEY  STATE    FAILED  ELAPSED
 *	→        7  nightly        RUNNING       1   3m 12s
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
#include "common/log.h"
#include "common/mono.h"
#include "common/pg.h"
#include "common/sqlstate.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/page.h"
#include "console/screen.h"
#include "console/session.h"
#include "console/text.h"
#include "console/watch_view.h"

enum {
	REFRESH_MS = 1000,
	BUSY = 9,   /* of ten parts of the time one at most is for queries */
	GUTTER = 2, /* columns for the arrow */
	AROUND = 2, /* the first line and the last */
};

struct watch {
	struct console *console;
	struct screen *screen;
	struct watch_view view;
	int64_t above;        /* the line to go back to; -1: none */
	size_t first, chosen; /* lines: the top one, the one with the arrow */
	char *trouble;        /* why the view is old; NULL: it is up to date */
};

/* Looking ------------------------------------------------------------------ */

/* The number of the chosen thing; 0: nothing is chosen. */
static int64_t
chosen_id(const struct watch *watch)
{
	const struct page *page = &watch->view.page;

	return watch->chosen < page->count ? page->lines[watch->chosen].id : 0;
}

static bool
explain(struct watch *watch, struct error *err)
{
	return watch_view_explain(
	    &watch->view, watch->console, chosen_id(watch), err);
}

/* Keep the same thing chosen when its line moves. */
static bool
look(struct watch *watch, struct error *err)
{
	size_t columns = screen_columns(watch->screen);
	bool first = watch->view.page.count == 0;
	int64_t id = chosen_id(watch);

	if (!watch_view_look(&watch->view, watch->console,
	        columns > GUTTER ? columns - GUTTER : 1, err))
		return false;
	watch->chosen = first ? page_first(&watch->view.page)
	                      : page_find(&watch->view.page, id, watch->chosen);
	return explain(watch, err);
}

/* A lost connection ---------------------------------------------------------- */

static bool
is_lost(const struct watch *watch, const struct error *err)
{
	return watch->console->pg == NULL || !pg_is_alive(watch->console->pg) ||
	       sqlstate_is_no_session(err->sqlstate);
}

/* False if another try can't help. */
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

/* The lines of the page that fit on the screen. */
static size_t
visible(const struct watch *watch)
{
	size_t rows = screen_rows(watch->screen);
	size_t others = AROUND + watch->view.reason_count;

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
		if (i < watch->view.page.count)
			buf_addf(&line, "%s%s",
			    i == watch->chosen ? terminal->glyphs->arrow : " ",
			    i == watch->chosen &&
			            text_width(terminal->glyphs->arrow) > 1
			        ? ""
			        : " ");
		if (i < watch->view.page.count)
			buf_adds(&line, watch->view.page.lines[i].text);
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
		add_line(watch, STYLE_BOLD, "", watch->view.title);
	draw_page(watch);
	for (i = 0; i < watch->view.reason_count; i++)
		add_line(watch, STYLE_WAIT, "", watch->view.reasons[i]);
	add_line(watch, STYLE_DIM, help,
	    strlen(help) + strlen(clock) <= screen_columns(watch->screen)
	        ? clock
	        : "");
	screen_show(watch->screen);
}

/* Keys --------------------------------------------------------------------- */

/* False: the view need not be asked for again. */
static bool
move(struct watch *watch, int64_t by)
{
	int64_t last = (int64_t)watch->view.page.count - 1;
	int64_t to = (int64_t)watch->chosen + by;

	watch->chosen = (size_t)(to < 0 || last < 0 ? 0
	                         : to > last        ? last
	                                            : to);
	return false;
}

/* Open another view at its top, or at the line of `id` if there is one. */
static void
enter(struct watch *watch, int64_t instance, int64_t above, int64_t id)
{
	watch->view.instance = instance;
	watch->above = above;
	page_release(&watch->view.page);
	watch->first = watch->chosen = 0;
	if (id > 0) {
		page_add(&watch->view.page, "");
		watch->view.page.lines[0].id = id;
	}
}

/* Whether the view has to be asked for again. */
static bool
obey(struct watch *watch, enum key key)
{
	int64_t height = (int64_t)visible(watch);
	int64_t id = chosen_id(watch);

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
		if (watch->view.instance == 0 && id != 0)
			enter(watch, id, id, 0);
		return true;
	case KEY_BACK:
		if (watch->view.instance != 0 && watch->above >= 0)
			enter(watch, 0, -1, watch->above);
		return true;
	default:
		return true;
	}
}

/* ^C stopped a query: the user quits. */
static bool
is_quit(struct error *err)
{
	if (!console_is_interrupted())
		return false;
	console_set_interrupted(false);
	error_release(err);
	return true;
}

/* Run until the user quits; false if an error ended it. */
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
				return is_quit(err);
			rest_ms = BUSY * mono_diff_ms(mono_now(), begun);
			if (rest_ms < REFRESH_MS)
				rest_ms = REFRESH_MS;
		} else if (watch->console->pg != NULL && !explain(watch, err) &&
		           !retry_later(watch, err)) {
			return is_quit(err);
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

	/* no keys are read while it waits for a connection */
	if (setenv("PGCONNECT_TIMEOUT", "2", 0) != 0)
		fatal("cannot set PGCONNECT_TIMEOUT");
	if (instance != NULL)
		watch.view.instance = strtoll(instance, NULL, 10);
	if (!console_is_script(console))
		watch.screen = screen_open();
	if (watch.screen == NULL) {
		error_set(err,
		    "watch draws on a terminal, and its output is not one");
		error_hint(err,
		    "`wf-console list` prints the states of instances, "
		    "`wf-console tree INSTANCE` those of processes.");
		return EXIT_USAGE;
	}
	ok = run(&watch, err);
	screen_close(watch.screen);
	watch_view_release(&watch.view);
	free(watch.trouble);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
