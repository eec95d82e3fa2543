/*
 * sink.h - writes lines to a file, a pipe or a terminal that may not take them.
 *
 * A disk may be full, or the reader of a pipe may stand still, while the writer
 * has other things to do.  Therefore the writer waits at most a tenth of a
 * second for room, and does not wait again before there is some.  Lines for
 * which there is no room are left out.
 */
#ifndef COMMON_SINK_H
#define COMMON_SINK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * All zero except for the descriptor, which belongs to the caller and may
 * block.
 */
struct sink {
	int fd;
	bool full; /* there was no room the last time */
	bool cut;  /* the last line was written only in part */
};

/*
 * Write lines, each with its line end.  They are written at once into a file,
 * and into a pipe if they have at most PIPE_BUF bytes.  A line that was cut
 * before is ended first.  False: the lines were left out, or some of them.
 */
bool sink_write(struct sink *sink, const char *lines, size_t len);

#endif
