/*
 * watch_view.h - the contents of watch, without its keys: all instances that
 * run, or one instance, as the workspace has them now.
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
	WATCH_REASONS = 3, /* lines that tell about the chosen one */
};

struct watch_view {
	int64_t instance; /* 0: all instances */
	struct page page;
	char *title; /* NULL: nothing was asked yet */
	char *reasons[WATCH_REASONS];
	size_t reason_count;
};

/*
 * Ask for page and title anew, in lines of so many columns.  False: that
 * failed, and the old ones stay.
 */
bool watch_view_look(struct watch_view *view, const struct console *console,
    size_t columns, struct error *err);

/* Ask why the thing with that number (0: nothing) does not go on. */
bool watch_view_explain(struct watch_view *view, const struct console *console,
    int64_t id, struct error *err);

void watch_view_release(struct watch_view *view);

#endif
