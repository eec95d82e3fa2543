/*
 * output.h - the output of a running program, on its way to the workspace.
 *
 * Output is collected for about a second and then taken away.  If it comes
 * faster, the oldest bytes are dropped, so that memory stays bounded.  The
 * response brings the whole end of the output anyway.
 */
#ifndef DRIVER_TRANSPORT_OUTPUT_H
#define DRIVER_TRANSPORT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/transport/tail.h"
#include "runtime/pipes.h"

/*
 * The output of one attempt.  Read the fields; change them only through the
 * functions.
 */
struct output {
	struct tail streams[2];
	int64_t start;            /* bytes before the collected ones */
	void (*fresh)(void *arg); /* called for new output, maybe often */
	void *arg;
};

void output_init(struct output *output, void (*fresh)(void *arg), void *arg);
void output_release(struct output *output);

/*
 * A transport adds output as it comes.  `output` may be NULL: the output is not
 * wanted.
 */
void output_add(struct output *output, enum pipe_stream stream,
    const char *data, size_t len);

/* A piece that was taken away: `size` bytes from `start` on, as clean text. */
struct output_piece {
	int64_t start, size;
	struct buf text;
};

/*
 * Take the collected output of a stream, without secrets; false: there is none.
 * Bytes that may begin a character or a secret stay behind, unless `all` is
 * wanted.  Release the text.
 */
bool output_take(struct output *output, enum pipe_stream stream, bool all,
    struct output_piece *piece);

#endif
