/*
 * stream.h - one of the two streams of a command: the bytes between the records
 * of its wrapper.
 */
#ifndef DRIVER_TRANSPORT_SSH_STREAM_H
#define DRIVER_TRANSPORT_SSH_STREAM_H

#include <stdbool.h>

#include "driver/transport/output.h"
#include "driver/transport/tail.h"

/* Read the fields; change them only through the functions. */
struct ssh_stream {
	struct tail text; /* before the first record: messages of ssh */
	bool begun;
	bool ended;
	int exit_code;
	size_t handed; /* bytes of the output that were streamed already */
};

/* The last `limit` bytes of the output are kept. */
void ssh_stream_init(struct ssh_stream *stream, size_t limit);
void ssh_stream_release(struct ssh_stream *stream);

/* Set the stream back to its beginning. */
void ssh_stream_reset(struct ssh_stream *stream);

/*
 * Add bytes that came.  Bytes that are certainly output of the command go to
 * `output`, too.
 */
void ssh_stream_add(struct ssh_stream *stream, const char *nonce,
    const char *data, size_t len, struct output *output,
    enum pipe_stream which);

#endif
