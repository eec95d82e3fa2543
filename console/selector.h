/*
 * selector.h - which instances and processes a verb means.
 */
#ifndef CONSOLE_SELECTOR_H
#define CONSOLE_SELECTOR_H

#include <stdbool.h>

struct error;
struct invocation;

struct selector {
	char *json;     /* a target as wf.retry and its like take it; owned */
	bool is_single; /* it names one thing by its number */
};

/*
 * Read the targets and --id --root --state --failed --workflow --tag
 * --older-than --global.  False is a usage error: nothing was named, or what
 * was named does not go together.
 */
bool selector_init(struct selector *selector,
    const struct invocation *invocation, struct error *err);

void selector_release(struct selector *selector);

#endif
