/* client.h - how to call OpenSSH's client, and how to read its messages. */
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

/* A host as a task names it; ssh_config has the rest. */
struct ssh_target {
	const char *host;
	const char *user; /* NULL: not given */
	int64_t port;     /* 0: not given */
};

/*
 * Add the program and its options.  ssh takes the first value that it gets for
 * an option, so `first` (Name=value, the last one NULL) wins over all others.
 */
void ssh_client_options(
    struct words *words, const struct config *config, const char *const *first);
void ssh_client_target(struct words *words, const struct ssh_target *target);

/* Run the words.  The client may use the agent of the driver's user, if any. */
struct child *ssh_client_start(struct loop *loop, const struct words *words,
    const struct child_events *events, void *arg, struct error *err);

/* The last line of ssh's output, for the caller to free(). */
char *ssh_client_last_line(const struct buf *text);

#endif
