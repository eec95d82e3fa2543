/*
 * json_token.h - the tokens of a JSON text, for json.c: json-c takes NaN, 1.
 * and -01 for numbers, control characters and surrogates for text, and brings
 * what does not fit 64 bits to something else that does.
 */
#ifndef COMMON_JSON_TOKEN_H
#define COMMON_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct error;

/* Behind a whole number it makes no difference, and nobody writes it. */
#define JSON_TOKEN_MARK "E+0000000"

/*
 * Whether words, numbers and strings are what RFC 8259 calls so; how they
 * follow each other is not looked at.  `*big`: a whole number is among them
 * that does not fit int64_t.
 */
bool json_tokens_check(
    const char *text, size_t len, bool *big, struct error *err);

/* How long `text` is up to the end of its first string, word or number. */
size_t json_tokens_piece(const char *text, const char *end);

/* Add `text` with a JSON_TOKEN_MARK behind each such number. */
void json_tokens_mark(struct buf *buf, const char *text, size_t len);

#endif
