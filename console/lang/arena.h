/*
 * arena.h - memory that is freed all at once.
 *
 * A compilation allocates everything from one arena and frees nothing itself;
 * the arena is freed with the result.
 */
#ifndef LANG_ARENA_H
#define LANG_ARENA_H

#include <stddef.h>

#include "common/compiler.h"

struct arena;

struct arena *arena_new(void);

/* NULL is allowed. */
void arena_free(struct arena *arena);

/* Zeroed, aligned for anything, never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/* The first `len` bytes of `text`, NUL-terminated. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

char *arena_printf(struct arena *arena, const char *format, ...)
    PRINTF_LIKE(2, 3);

#endif
