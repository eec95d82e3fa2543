/*
 * json_token.h - the tokens of a JSON text, for json.c.  json-c alone is too
 * tolerant: it takes NaN, 1. and -01 for numbers, accepts control characters
 * and surrogates as text, and silently changes a whole number that does not fit
 * 64 bits.
 */
#ifndef COMMON_JSON_TOKEN_H
#define COMMON_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct error;

/*
 * Behind a whole number the mark does not change the value, and no document has
 * it there.
 */
#define JSON_TOKEN_MARK "E+0000000"

/*
 * Whether words, numbers and strings are those of RFC 8259; their order is not
 * checked.  `*big`: the text has a whole number that does not fit int64_t.
 */
bool json_tokens_check(
    const char *text, size_t len, bool *big, struct error *err);

/*
 * How many bytes `text` has up to the end of its first string, word or number.
 */
size_t json_tokens_piece(const char *text, const char *end);

/*
 * Add `text` with a JSON_TOKEN_MARK behind each whole number that does not fit.
 */
void json_tokens_mark(struct buf *buf, const char *text, size_t len);

#endif
