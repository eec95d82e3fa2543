/*
 * ssh_host.h - a host that commands run on: which requests wait for a seat, and
 * what is known of its connections.  For ssh_pool and ssh_shared only.
 */
#ifndef DRIVER_SSH_HOST_H
#define DRIVER_SSH_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/loop.h"
#include "driver/ssh_client.h"

struct config;
struct ssh_seat;
struct ssh_shared;

struct ssh_host {
	struct loop *loop;
	const struct config *config;
	struct ssh_target target;      /* its strings are the host's */
	struct ssh_seat *first, **end; /* requests that wait, in order */
	struct ssh_shared *shared;     /* ssh_shared.h */
	int64_t waiting, seated;
	int64_t starting; /* connections that are being made */
	int64_t begun;    /* sessions that ever stood, and one */
	int64_t allowed;  /* sessions on one; 0: it has not refused any */
	int64_t fewest;   /* that it ever was, 0 the same */
	struct timer calm_timer, ease_timer;
	void (*changed)(void *arg); /* it may be able to serve somebody now */
	void *arg;
	struct ssh_host *next;
};

struct ssh_host *ssh_host_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, void (*changed)(void *arg), void *arg);

/* Nobody has a seat there, and it has no connections. */
void ssh_host_free(struct ssh_host *host);

/* Whether `target` means this host. */
bool ssh_host_is(const struct ssh_host *host, const struct ssh_target *target);

/* A seat joins the end of those that wait; leaves them. */
void ssh_host_wait(struct ssh_host *host, struct ssh_seat *seat);
void ssh_host_take(struct ssh_host *host, struct ssh_seat *seat);

/*
 * Everybody who waits hears it, or who tried in vain after the last session
 * began.  They may ask again meanwhile.
 */
void ssh_host_fail(struct ssh_host *host, const char *reason);
void ssh_host_fail_tried(struct ssh_host *host, const char *reason);

/* No new connections for a moment. */
void ssh_host_calm(struct ssh_host *host);
bool ssh_host_is_calm(const struct ssh_host *host);

/* How many sessions a connection to it carries. */
int64_t ssh_host_room(const struct ssh_host *host);

/* It has refused one more than `sessions` on a connection. */
void ssh_host_refused(struct ssh_host *host, int64_t sessions);

#endif
