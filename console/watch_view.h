/*
 * watch_view.h - what watch shows, but for the keys: of all that runs, or of one
 * instance, as the workspace has it now.
 */
#ifndef CONSOLE_WATCH_VIEW_H
#define CONSOLE_WATCH_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console/page.h"

struct console;
struct error;

enum {
	WATCH_REASONS = 3, /* lines that tell about what is chosen */
};

struct watch_view {
	int64_t instance; /* 0: all that run */
	struct page page;
	char *title; /* NULL: nobody has looked yet */
	char *reasons[WATCH_REASONS];
	size_t reason_count;
};

/*
 * Ask for page and title anew, in lines of so many columns.  False: it can't
 * be had, and what was there stays.
 */
bool watch_view_look(struct watch_view *view, const struct console *console,
    size_t columns, struct error *err);

/* Ask why what has that number (0: nothing) does not go on. */
bool watch_view_explain(struct watch_view *view, const struct console *console,
    int64_t id, struct error *err);

void watch_view_release(struct watch_view *view);

#endif
