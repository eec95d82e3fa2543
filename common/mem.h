/*
 * mem.h - memory, or the end of the program.
 *
 * None of these functions returns NULL: out of memory is fatal.  Release with
 * free().
 */
#ifndef COMMON_MEM_H
#define COMMON_MEM_H

#include <stdarg.h>
#include <stddef.h>

#include "common/compiler.h"

void *xmalloc(size_t size);

/* Zeroed; `count` times `size` may not overflow. */
void *xcalloc(size_t count, size_t size);

/* Grow or shrink `old` (or NULL); `count` times `size` may not overflow. */
void *xreallocarray(void *old, size_t count, size_t size);

char *xstrdup(const char *text);

/* At most `len` bytes of `text`, NUL-terminated. */
char *xstrndup(const char *text, size_t len);

/* Overwrite memory that held a secret, then free() it.  NULL is allowed. */
void free_wiped(void *memory);

/* As realloc(); if the memory moves, the old memory is overwritten. */
void *realloc_wiped(void *old, size_t size);

char *xasprintf(const char *format, ...) PRINTF_LIKE(1, 2);
char *xvasprintf(const char *format, va_list args) PRINTF_LIKE(1, 0);

#endif
