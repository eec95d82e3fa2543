/*
 * near.h - which known name was meant by an unknown one.
 */
#ifndef LANG_NEAR_H
#define LANG_NEAR_H

#include <stddef.h>

/* Offer names one after another; the nearest stays in `best`. */
struct near {
	const char *wanted;
	const char *best; /* NULL: none is near */
	size_t edits;
};

void near_init(struct near *near, const char *wanted);
void near_offer(struct near *near, const char *name);

#endif
