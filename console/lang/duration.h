/*
 * duration.h - spans of time as people write them.
 */
#ifndef LANG_DURATION_H
#define LANG_DURATION_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/*
 * The ISO 8601 form (`PT1H30M`) of a literal such as 250ms, 1h30m, 2d: units
 * descending, each once.  NULL if the text is not such a literal.
 */
char *duration_literal(struct arena *arena, const char *text, size_t len);

/*
 * The same for text, which may also have long units, spaces, commas, decimals
 * and any case ("1 hour 10minutes 5s").
 */
char *duration_text(struct arena *arena, const char *text);

#endif
