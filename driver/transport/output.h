/*
 * output.h - what a program writes, on its way to the workspace while it runs.
 *
 * It is collected for a second or so and then taken away.  What comes faster
 * than it is taken is dropped, oldest first: memory stays bounded, and the
 * whole end of it comes with the response anyway.
 */
#ifndef DRIVER_TRANSPORT_OUTPUT_H
#define DRIVER_TRANSPORT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/transport/tail.h"
#include "runtime/child.h"

/* Of one attempt.  Read the fields; change them only through the functions. */
struct output {
	struct tail streams[2];
	int64_t start;            /* bytes before what is collected here */
	void (*fresh)(void *arg); /* there is something; may come often */
	void *arg;
};

void output_init(struct output *output, void (*fresh)(void *arg), void *arg);
void output_release(struct output *output);

/* From a transport, as it comes.  `output` may be NULL: nobody wants it. */
void output_add(struct output *output, enum child_stream stream,
    const char *data, size_t len);

/* A piece that is taken away: bytes `start` and following, as clean text. */
struct output_piece {
	int64_t start, size;
	struct buf text;
};

/*
 * Take what there is of a stream, without secrets; false: nothing.  What may
 * be the beginning of a character or of a secret stays behind, unless `all` is
 * wanted.  Release the text.
 */
bool output_take(struct output *output, enum child_stream stream, bool all,
    struct output_piece *piece);

#endif
