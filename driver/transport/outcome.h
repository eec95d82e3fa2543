/* outcome.h - how a request ended. */
#ifndef DRIVER_TRANSPORT_OUTCOME_H
#define DRIVER_TRANSPORT_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/compiler.h"

struct tail;

enum outcome_event {
	OUTCOME_RESPONSE, /* body: the response as JSON; empty is null */
	OUTCOME_ERROR,    /* body: {"kind", "message", "detail"?} */
	OUTCOME_RECORDED, /* nothing to report: the workspace has it already */
};

/*
 * The most bytes of a report's body.  No value of the workspace has more, even
 * if its setting value_bytes is raised.  And the message with a report stays
 * far below the server's limit of a gigabyte.
 */
enum { OUTCOME_MAX_BYTES = 128 << 20 };

/* The last function that gets an outcome must release it. */
struct outcome {
	enum outcome_event event;
	struct buf body;
};

/* A response without a body. */
void outcome_init(struct outcome *outcome);

/*
 * Make it an error.  `kind` is a word that workflows can test ("timeout",
 * "lost", "cancelled", "rejected", "secret", "input", "output" or the transport's name); `detail`
 * is JSON text or NULL.
 */
void outcome_error(struct outcome *outcome, const char *kind,
    const char *detail, const char *format, ...) PRINTF_LIKE(4, 5);

/*
 * Make it the response of a program that has ended, with the last part of its
 * two streams.
 */
void outcome_exited(
    struct outcome *outcome, int exit_code, struct tail *out, struct tail *err);

/* Make it the error that a report has `bytes`, more than it may have. */
void outcome_too_large(struct outcome *outcome, size_t bytes);

void outcome_release(struct outcome *outcome);

/* Add `text` as UTF-8; each invalid byte and each NUL becomes U+FFFD. */
void outcome_add_clean(struct buf *buf, const char *text, size_t len);

/*
 * Write `text` as a JSON string.  It may have any bytes: each invalid byte and
 * each NUL becomes U+FFFD.
 */
void outcome_add_text(struct buf *buf, const char *text, size_t len);

/*
 * The same for the end of a stream.  If bytes are missing, a line before it
 * says how many.  The limit of the stream holds for the JSON, too, where a
 * control character takes six bytes.
 */
void outcome_add_tail(struct buf *buf, struct tail *tail);

/* Write a member of an object, after a comma if it needs one; NULL is null. */
void outcome_add_member(struct buf *buf, const char *name, const char *value);

#endif
