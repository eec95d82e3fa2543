/*
 * text.h - the value of a string literal.
 */
#ifndef LANG_TEXT_H
#define LANG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct lang_result;
struct source;

/* One piece of a literal between quotes and ${…}. */
struct text_piece {
	size_t start, end; /* in the source */
	const char *value; /* set by text_decode */
};

/*
 * Find the values of the `count` pieces of one literal.  `quotes` is 1 or 3:
 * in a literal with three quotes the line breaks right after the opening and
 * right before the closing quotes do not count, and the indentation common to
 * its lines is removed.  A `raw` literal has no escapes.  False, and
 * reported, if there is an escape that does not exist.
 */
bool text_decode(struct arena *arena, const struct source *source,
    struct text_piece *pieces, size_t count, int quotes, bool raw,
    struct lang_result *result);

#endif
