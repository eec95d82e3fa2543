/*
 * session.h - a command on a host, and its three streams.
 *
 * The command has a session on a shared connection, or a client of its own.  For
 * a session we speak to the client that holds the connection (mux.h): a client
 * program more for each command would cost more than most commands.
 */
#ifndef DRIVER_TRANSPORT_SSH_SESSION_H
#define DRIVER_TRANSPORT_SSH_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pipes.h"

struct error;
struct loop;
struct ssh_session;
struct words;

enum {
	SSH_SESSION_REFUSED = 255, /* the code of a client without a session */
	SSH_SESSION_KILLED = -1,
};

struct ssh_session_events {
	pipes_output_fn *output;

	/*
	 * The session is over, and all its output was handed over.  `code` is
	 * that of the command, or one of the above.  `reason` may be NULL: then
	 * the error output may have one.  Free the session; this is the last
	 * event.
	 */
	void (*ended)(void *arg, int code, const char *reason);
};

/*
 * Run `command` in a session on the connection that is shared at `socket`.
 * NULL with `err` set: there are no pipes for it.
 */
struct ssh_session *ssh_session_share(struct loop *loop, const char *socket,
    const char *command, const struct ssh_session_events *events, void *arg,
    struct error *err);

/* Run `words`: a client whose command is the last of them. */
struct ssh_session *ssh_session_alone(struct loop *loop,
    const struct words *words, const struct ssh_session_events *events,
    void *arg, struct error *err);

/* Write to the command's input when there is room.  The data are copied. */
void ssh_session_write(
    struct ssh_session *session, const void *data, size_t len);

/* Close the input when all is written. */
void ssh_session_close_input(struct ssh_session *session);

/*
 * Nothing more is wanted of the session.  Returns how many milliseconds it
 * should have before it is killed.
 */
int64_t ssh_session_end(struct ssh_session *session);

/* End it now; the event comes later. */
void ssh_session_kill(struct ssh_session *session);

/* No event comes after this.  NULL is allowed. */
void ssh_session_free(struct ssh_session *session);

#endif
