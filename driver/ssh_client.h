/*
 * ssh_client.h - how OpenSSH's client is called, and what it says.
 */
#ifndef DRIVER_SSH_CLIENT_H
#define DRIVER_SSH_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct child;
struct child_events;
struct config;
struct error;
struct loop;

/* A host as a task names it; the rest stands in ssh_config. */
struct ssh_target {
	const char *host;
	const char *user; /* NULL: not said */
	int64_t port;     /* 0: not said */
};

/* A list of arguments in the making; zeroed, it is empty. */
struct ssh_words {
	char **list; /* ends with a NULL once there is a word */
	size_t count;
};

/*
 * Add the program and its options.  ssh takes the first value that it is
 * given for an option: `first` (Name=value, the last one NULL) wins over all the others.
 */
void ssh_client_options(struct ssh_words *words, const struct config *config,
    const char *const *first);
void ssh_client_target(
    struct ssh_words *words, const struct ssh_target *target);

/* Run them.  The user's agent, if there is one, is the client's, too. */
struct child *ssh_client_start(struct loop *loop, const struct ssh_words *words,
    const struct child_events *events, void *arg, struct error *err);

void ssh_words_add(struct ssh_words *words, const char *text);
void ssh_words_release(struct ssh_words *words);

/* The last line of what ssh said, for the caller to free(). */
char *ssh_client_last_line(const struct buf *text);

#endif
