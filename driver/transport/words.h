/*
 * words.h - a list of words for a program: its arguments, or its environment.
 */
#ifndef DRIVER_TRANSPORT_WORDS_H
#define DRIVER_TRANSPORT_WORDS_H

#include <stddef.h>

/* Zeroed, a list is empty. */
struct words {
	char **list; /* ends with a NULL once there is a word */
	size_t count;
};

/* Add a copy of `text`. */
void words_add(struct words *words, const char *text);

/* Add a word that the list owns from then on. */
void words_give(struct words *words, char *word);

void words_release(struct words *words);

#endif
