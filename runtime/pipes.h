/*
 * pipes.h - the three streams of a command that runs elsewhere, on the loop.
 */
#ifndef RUNTIME_PIPES_H
#define RUNTIME_PIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct loop;
struct loop_watch;
struct pipes;

enum pipe_stream {
	PIPE_OUT,
	PIPE_ERR,
};

typedef void pipes_output_fn(
    void *arg, enum pipe_stream stream, const char *data, size_t len);

/* Our end of a pipe. */
struct pipe_end {
	struct pipes *pipes;
	enum pipe_stream stream;
	int fd; /* -1: closed */
	struct loop_watch *watch;
};

/* Only pipes.c uses the fields. */
struct pipes {
	struct loop *loop;
	pipes_output_fn *output;
	void *arg;
	struct pipe_end in, outs[2];
	struct buf input;
	size_t written; /* of the input */
	bool close_input;
};

/*
 * Make the pipes.  `others` are the ends for the command: those of its input,
 * output and error output; the caller closes them.  False with errno set: there
 * are none, and nothing is to be closed.
 */
bool pipes_open(struct pipes *pipes, struct loop *loop, int others[3],
    pipes_output_fn *output, void *arg);

/* Write to the command's input when there is room.  The data are copied. */
void pipes_write(struct pipes *pipes, const void *data, size_t len);

/* Close the input when all is written. */
void pipes_close_input(struct pipes *pipes);

/*
 * The command has ended, so its own output has arrived: hand it over.  Another
 * process may hold the streams for ever and is not waited for.
 */
void pipes_finish(struct pipes *pipes);

/* Close our ends.  No output comes from now on. */
void pipes_close(struct pipes *pipes);

#endif
