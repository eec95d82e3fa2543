/*
 * selector.h - which instances and processes a verb means.
 */
#ifndef CONSOLE_SELECTOR_H
#define CONSOLE_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct invocation;

struct selector {
	char *json;      /* a target as wf.retry and others take it; owned */
	bool is_single;  /* it names one process by its number */
	bool is_latest;  /* of all these, only the latest instance */
	int64_t counted; /* targets that were asked about; 0: no question */
	char *members;   /* of json, a comma before each; owned */
};

/*
 * Read the targets and --id --root --state --failed --workflow --tag
 * --older-than.  Without a number they mean the whole workspace; only
 * lb-workflow's spelling, `action`, then means the latest instance, and
 * --global all of it.  False is a usage error: nothing was named, or what was
 * named does not go together.
 */
bool selector_init(struct selector *selector,
    const struct invocation *invocation, struct error *err);

/*
 * Narrow it to `among`, a multirange of ids as the target's key of that name
 * takes it.  `instance` then replaces "the latest instance".
 */
void selector_narrow(
    struct selector *selector, const char *among, int64_t instance);

void selector_release(struct selector *selector);

#endif
