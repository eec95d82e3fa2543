/*
 * suggest.h - "did you mean …?"
 */
#ifndef CONSOLE_SUGGEST_H
#define CONSOLE_SUGGEST_H

#include <stddef.h>

/* Offer names one after another; the nearest stays in `best`. */
struct suggestion {
	const char *wanted;
	const char *best; /* borrowed from the offers; NULL: none is near */
	size_t best_len;
	size_t distance;
};

void suggestion_init(struct suggestion *suggestion, const char *wanted);
void suggestion_offer(
    struct suggestion *suggestion, const char *name, size_t len);

#endif
