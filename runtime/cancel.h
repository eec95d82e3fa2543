/*
 * cancel.h - have a server stop the query of a session.
 *
 * It takes a connection of its own and an answer, which libpq waits for; the
 * loop does not.
 */
#ifndef RUNTIME_CANCEL_H
#define RUNTIME_CANCEL_H

struct cancel;
struct loop;
struct pg;

/*
 * Tell the server; `done` comes from the loop when it knows, or could not be
 * told, which is logged.  Until then a later query might be hit as well.
 */
struct cancel *cancel_send(
    struct loop *loop, const struct pg *pg, void (*done)(void *arg), void *arg);

/* No call comes after it; the server is told all the same.  NULL is allowed. */
void cancel_free(struct cancel *cancel);

#endif
