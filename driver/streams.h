/*
 * streams.h - the output of one turn, packed for wf.output_add().
 */
#ifndef DRIVER_STREAMS_H
#define DRIVER_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

struct request;
struct request_table;
struct session;
struct streams;

/* The memory for packing; every turn uses it again. */
struct streams *streams_new(void);
void streams_free(struct streams *streams);

/* Take the rest of a request's output, before its end is reported. */
void streams_add_rest(struct streams *streams, struct request *request);

/*
 * Take the fresh output of all requests, as much as one turn can carry.  True:
 * there is more.
 */
bool streams_add(struct streams *streams, const struct request_table *table);

/* How many bytes of output were taken for this turn. */
size_t streams_bytes(const struct streams *streams);

/* Add the call of wf.output_add() to the session's batch; false: no call. */
bool streams_send(struct streams *streams, struct session *session);

#endif
