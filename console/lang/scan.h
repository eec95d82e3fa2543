/*
 * scan.h - turn text into tokens and comments.
 */
#ifndef LANG_SCAN_H
#define LANG_SCAN_H

#include "console/lang/token.h"

struct arena;
struct lang_result;
struct source;

/*
 * Scan the whole file.  Bytes that are not a token are reported and left out,
 * so the result can always be parsed.
 */
struct tokens *scan(struct arena *arena, const struct source *source,
    struct lang_result *result);

#endif
