/*
 * buf.h - a growing string of bytes with a limit.
 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* Read the fields; change them only through the functions. */
struct buf {
	char *data; /* NUL-terminated, never NULL; owned */
	size_t len; /* without the NUL */
	size_t size;
	size_t limit; /* `len` never exceeds it */
	bool secret;  /* its memory is overwritten before it is freed */
};

/* Begin empty.  `limit` 0 means none. */
void buf_init(struct buf *buf, size_t limit);

/*
 * The same for a string with secrets in it: memory that the buffer frees has no
 * secrets.  Do not format secrets into it: buf_addf leaves copies.
 */
void buf_init_secret(struct buf *buf, size_t limit);

/* All functions that add: false means over the limit, and nothing was added. */
bool buf_add(struct buf *buf, const void *data, size_t len);
bool buf_adds(struct buf *buf, const char *text);
bool buf_addc(struct buf *buf, char c);
bool buf_addf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);

/* Keep the first `len` bytes (at most the present length). */
void buf_truncate(struct buf *buf, size_t len);

/* Free the memory beyond the string: the string will be kept for a while. */
void buf_fit(struct buf *buf);

/* The string, for the caller to free(), or to free_wiped() if it is secret; the
 * buffer is empty again. */
char *buf_take(struct buf *buf);

/* Release the string; the buffer is empty and may be used again. */
void buf_release(struct buf *buf);

#endif
