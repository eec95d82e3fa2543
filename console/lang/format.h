/*
 * format.h - the one canonical layout.
 */
#ifndef LANG_FORMAT_H
#define LANG_FORMAT_H

struct arena;
struct lang_result;
struct source;

/* The text in canonical layout, with its comments; NULL, and reported, if it
 * can not be parsed.  The caller frees it. */
char *format_source(struct arena *arena, const struct source *source,
    struct lang_result *result);

#endif
