/*
 * tail.h - the end of a stream of bytes, however long it gets.
 */
#ifndef DRIVER_TRANSPORT_TAIL_H
#define DRIVER_TRANSPORT_TAIL_H

#include <stddef.h>

#include "common/buf.h"

/* Read the fields; change them only through the functions. */
struct tail {
	struct buf kept;
	size_t limit;
	size_t cut; /* how many bytes before `kept` are gone */
};

void tail_init(struct tail *tail, size_t limit);
void tail_release(struct tail *tail);

/*
 * At least the last `limit` bytes are kept, and never more than twice as many.
 */
void tail_add(struct tail *tail, const void *data, size_t len);

/* Forget the first `len` bytes that are kept; they don't count as cut. */
void tail_skip(struct tail *tail, size_t len);

/* The same, but the bytes count as cut. */
void tail_cut(struct tail *tail, size_t len);

/* Cut the tail to its limit. */
void tail_trim(struct tail *tail);

#endif
