/*
 * source.h - the text of one file, and where its lines are.
 */
#ifndef LANG_SOURCE_H
#define LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct lang_result;

struct source {
	const char *path;
	const char *text; /* NUL-terminated, UTF-8, lines end with \n */
	size_t len;
	size_t *lines; /* where each line begins */
	int line_count;
	int order; /* of this file among those of the compilation */
};

/* 1-based; the column counts characters. */
struct position {
	int line, column;
};

/*
 * Take `len` bytes as the contents of `path`: a byte order mark is dropped,
 * CRLF and CR become LF.  NULL, with a diagnostic, if the text is too long,
 * no UTF-8, or holds a NUL.
 */
struct source *source_new(struct arena *arena, const char *path,
    const char *text, size_t len, struct lang_result *result);

int source_line_at(const struct source *source, size_t offset);
struct position source_position(const struct source *source, size_t offset);

/* The line of that number, for messages, in `arena`; NULL if it is too long. */
char *source_line(const struct source *source, struct arena *arena, int line);

/* The next character: its code point, and its length in bytes. */
unsigned source_decode(const char *text, size_t *len);

#endif
