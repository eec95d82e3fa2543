/*
 * redact.h - what must not be seen in anything that leaves this program.
 *
 * Where a secret that is known (known.h) stands in an outcome, in streamed
 * output or in a log line, *** takes its place.  It is found as it
 * is, in base 64 wherever it begins there, and behind the escapes of JSON (up to
 * three times) and of URLs, whatever characters they were used for; of a value
 * with several lines each long one is found, too.  What somebody else made of it
 * in another way (reversed, compressed) is not recognised.
 */
#ifndef DRIVER_SECRET_REDACT_H
#define DRIVER_SECRET_REDACT_H

#include <stddef.h>
#include <stdint.h>

struct buf;

enum {
	REDACT_MIN = 4, /* bytes; what is shorter would be found everywhere */
};

/* In text of any kind. */
void redact_text(struct buf *text);

/* In JSON, which stays JSON: in strings, and in numbers. */
void redact_json(struct buf *json);

/* Redact a text that lost its beginning, and the end of a value there. */
void redact_head(struct buf *text);

/*
 * How many bytes at the end of `text` may be the beginning of a value.  A caller
 * that hands text on in pieces keeps these bytes back until more text has come.
 * The text before them is redacted as it would be in the whole text.
 */
size_t redact_waiting(const char *text, size_t len);

/* For log_filter(). */
char *redact_line(char *line);

/* How many secrets have been replaced since the program was started. */
uint64_t redact_count(void);

#endif
