/*
 * redact.h - what must not be seen in anything that leaves this program.
 *
 * Every value that was put into a request is remembered, and replaced by ***
 * in outcomes and log lines: as it is, as JSON writes it (also twice), in
 * percent-encoding and in base 64 wherever it begins there; of a value with
 * several lines each long one, too.  What somebody else made of it in another
 * way (reversed, compressed) is not recognised.
 *
 * The state is the program's, as that of the log is.
 */
#ifndef DRIVER_REDACT_H
#define DRIVER_REDACT_H

#include <stddef.h>

struct buf;

enum {
	REDACT_MIN = 4, /* bytes; what is shorter would be found everywhere */
};

/* Remember a value, at least REDACT_MIN bytes of UTF-8.  It is copied. */
void redact_add(const char *text, size_t len);

/* Forget all of them. */
void redact_clear(void);

/* In text of any kind. */
void redact_text(struct buf *text);

/* In JSON, which stays JSON: in strings, and in numbers. */
void redact_json(struct buf *json);

/* Of text that lost its beginning: the end of a value that stood there. */
void redact_head(struct buf *text);

/*
 * How much of the end of `text` may be the beginning of a value: whoever hands
 * text on in pieces keeps it back until there is more.  What stands before it
 * is redacted as it would be in the whole text.
 */
size_t redact_waiting(const char *text, size_t len);

/* For log_filter(). */
char *redact_line(char *line);

#endif
