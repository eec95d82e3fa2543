/*
 * sink.h - where lines go, whether or not somebody takes them.
 *
 * A disk may be full, a reader may stand still, and whoever writes has other
 * things to do: it waits for room for a tenth of a second, and not again before
 * there is some.  What there is no room for is left out.
 */
#ifndef COMMON_SINK_H
#define COMMON_SINK_H

#include <stdbool.h>
#include <stddef.h>

/* All zero but for the descriptor, which is the caller's, and may block. */
struct sink {
	int fd;
	bool full; /* there was no room the last time */
	bool cut;  /* what came last has no end */
};

/*
 * Write lines, the last one with its end: in one write into a file, or if they
 * are no longer than PIPE_BUF.  A line that was cut before is ended first.
 * False: they are not there, or not all of them.
 */
bool sink_write(struct sink *sink, const char *lines, size_t len);

#endif
