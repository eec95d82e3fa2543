/*
 * suggestion.h - the known name that is most like an unknown one: "did you mean
 * …?"
 */
#ifndef COMMON_SUGGESTION_H
#define COMMON_SUGGESTION_H

#include <stddef.h>

/* Offer names one after another; the nearest stays in `best`. */
struct suggestion {
	const char *wanted;
	/* borrowed from the offers; NULL: no name is like it */
	const char *best;
	size_t best_len;
	size_t edits;
};

void suggestion_init(struct suggestion *suggestion, const char *wanted);
void suggestion_offer(
    struct suggestion *suggestion, const char *name, size_t len);

#endif
