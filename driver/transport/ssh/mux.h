/*
 * mux.h - what we say to the client that holds a shared connection, and what it
 * answers: the part of OpenSSH's PROTOCOL.mux (version 4) that we need.
 */
#ifndef DRIVER_TRANSPORT_SSH_MUX_H
#define DRIVER_TRANSPORT_SSH_MUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Connect to the client at the socket `path`, without blocking.  -1 with errno
 * set; EAGAIN: the client is too busy, later it may take us.
 */
int mux_connect(const char *path);

/* The first message; all others follow it. */
void mux_add_hello(struct buf *message);

/* The client is to end, with all its sessions. */
void mux_add_terminate(struct buf *message);

/*
 * Run `command` in a session; `env` is NAME=value and ends with a NULL.  The
 * three streams of the command follow, each by mux_give().
 */
void mux_add_session(
    struct buf *message, const char *command, char *const *env);

/* Give a stream; the caller still has to close it.  False with errno set. */
bool mux_give(int fd, int stream);

enum mux_answer_kind {
	MUX_OPENED,  /* the session stands */
	MUX_REFUSED, /* there is none; `text` says why */
	MUX_EXITED,  /* the command has ended with `status` */
	MUX_OTHER,   /* nothing that concerns us */
	MUX_BROKEN,  /* not an answer: the rest can't be read */
};

struct mux_answer {
	enum mux_answer_kind kind;
	uint32_t status;
	const char *text; /* in the bytes that were read */
	size_t text_len;
};

/*
 * Read the answer at the beginning of `data`.  Returns how many bytes it has;
 * 0: not all of them have come.
 */
size_t mux_read(const char *data, size_t len, struct mux_answer *answer);

#endif
