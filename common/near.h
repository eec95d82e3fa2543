/*
 * near.h - which known name was meant by an unknown one: "did you mean …?"
 */
#ifndef COMMON_NEAR_H
#define COMMON_NEAR_H

#include <stddef.h>

/* Offer names one after another; the nearest stays in `best`. */
struct near {
	const char *wanted;
	const char *best; /* borrowed from the offers; NULL: none is near */
	size_t best_len;
	size_t edits;
};

void near_init(struct near *near, const char *wanted);
void near_offer(struct near *near, const char *name, size_t len);

#endif
