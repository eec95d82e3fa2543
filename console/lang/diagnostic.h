/*
 * diagnostic.h - errors with their places.
 *
 * Messages: lower case, no final stop, names in `backquotes`.  Hints: one
 * full sentence.
 */
#ifndef LANG_DIAGNOSTIC_H
#define LANG_DIAGNOSTIC_H

#include <stddef.h>

#include "common/compiler.h"

struct lang_result;
struct source;

/* Add an error at a place in a file. */
void report(struct lang_result *result, const struct source *source,
    size_t offset, const char *format, ...) PRINTF_LIKE(4, 5);

/* Add an error about a whole file. */
void report_file(struct lang_result *result, const char *path,
    const char *format, ...) PRINTF_LIKE(3, 4);

/* Add a hint to the error that was just reported. */
void report_hint(struct lang_result *result, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Whether any error was reported. */
int report_failed(const struct lang_result *result);

/* Sort the diagnostics by file, line and column. */
void report_sort(struct lang_result *result);

#endif
