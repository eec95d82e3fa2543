/*
 * utf8.h - is it UTF-8, and where does a character end?
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How many bytes of `text` its first character takes, 1 to 4; 0 if the bytes
 * are not a character (cut off, overlong, a surrogate) or `len` is 0.
 */
size_t utf8_sequence(const char *text, size_t len);

/* Whether all of `text` is UTF-8.  NUL is a character. */
bool utf8_valid(const char *text, size_t len);

#endif
