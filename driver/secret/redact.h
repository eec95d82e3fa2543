/*
 * redact.h - keep secrets out of everything that leaves this program.
 *
 * In outcomes, in streamed output and in log lines *** takes the place of each
 * known secret (known.h).  A secret is found as it is, in base 64 at any place
 * in it, and behind the escapes of JSON (up to three times) and of URLs,
 * whatever characters they were used for.  Of a value with several lines each
 * long line is found, too.  A secret that somebody changed in another way
 * (reversed, compressed) is not recognised.
 */
#ifndef DRIVER_SECRET_REDACT_H
#define DRIVER_SECRET_REDACT_H

#include <stddef.h>
#include <stdint.h>

struct buf;

enum {
	REDACT_MIN = 4, /* bytes; shorter values would be found everywhere */
};

/* Redact text of any kind. */
void redact_text(struct buf *text);

/* Redact the strings and numbers of JSON, which stays JSON. */
void redact_json(struct buf *json);

/* Redact the end of a value at the beginning of a text that was cut there. */
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
