/*
 * client.h - how OpenSSH's client is called, and what it says.
 */
#ifndef DRIVER_TRANSPORT_SSH_CLIENT_H
#define DRIVER_TRANSPORT_SSH_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct child;
struct child_events;
struct config;
struct error;
struct loop;
struct words;

/* A host as a task names it; the rest stands in ssh_config. */
struct ssh_target {
	const char *host;
	const char *user; /* NULL: not said */
	int64_t port;     /* 0: not said */
};

/*
 * Add the program and its options.  ssh takes the first value that it is
 * given for an option: `first` (Name=value, the last one NULL) wins over all the others.
 */
void ssh_client_options(
    struct words *words, const struct config *config, const char *const *first);
void ssh_client_target(struct words *words, const struct ssh_target *target);

/* Run them.  The user's agent, if there is one, is the client's, too. */
struct child *ssh_client_start(struct loop *loop, const struct words *words,
    const struct child_events *events, void *arg, struct error *err);

/* The last line of what ssh said, for the caller to free(). */
char *ssh_client_last_line(const struct buf *text);

#endif
