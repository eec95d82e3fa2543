/*
 * cancel.h - have a server stop the query of a session.
 *
 * The message to the server needs a connection of its own.  libpq waits for it
 * in a thread, so the loop goes on.
 */
#ifndef RUNTIME_CANCEL_H
#define RUNTIME_CANCEL_H

struct cancel;
struct loop;
struct pg;

/*
 * Tell the server.  `done` comes from the loop when the server knows, or when
 * it could not be told, which is logged.  Until then the cancel might also stop
 * a later query.
 */
struct cancel *cancel_send(
    struct loop *loop, const struct pg *pg, void (*done)(void *arg), void *arg);

/*
 * `done` does not come after this; the server is still told.  NULL is allowed.
 */
void cancel_free(struct cancel *cancel);

#endif
