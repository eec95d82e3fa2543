/*
 * pool.h - who may use which connection to which host, and when.
 *
 * The commands for one host share connections.  How many sessions one carries,
 * how many there are and how many are being made at a time is capped; who is
 * too many waits for a seat.  A host that allows fewer sessions than we think
 * is believed.  What cannot be shared gets a connection of its own.
 */
#ifndef DRIVER_TRANSPORT_SSH_POOL_H
#define DRIVER_TRANSPORT_SSH_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct config;
struct loop;
struct ssh_host;
struct ssh_pool;
struct ssh_shared;
struct ssh_target;

/* A command's place; lives in whatever asked for it.  Events from the loop. */
struct ssh_seat {
	/* Go ahead: through `socket`, or on a connection of its own (NULL). */
	void (*granted)(void *arg, const char *socket);

	/* There is no connection to be had, and why. */
	void (*failed)(void *arg, const char *reason);
	void *arg;

	/* The host's. */
	struct ssh_host *host; /* NULL: at rest */
	struct ssh_shared *shared;
	bool waiting;
	bool alone;    /* wants a connection of its own */
	bool starting; /* is making it */
	int refusals;
	int64_t tried; /* `begun` of the host when it began to, 0: never */
	TAILQ_ENTRY(ssh_seat) link; /* among those that wait */
};

struct ssh_pool *ssh_pool_new(struct loop *loop, const struct config *config);
void ssh_pool_free(struct ssh_pool *pool);

/* Options have changed: the connections that exist now take no new sessions. */
void ssh_pool_renew(struct ssh_pool *pool);

void ssh_pool_ask(struct ssh_pool *pool, struct ssh_seat *seat,
    const struct ssh_target *target);

/* Whether it waits for the host to be reached, not just for its turn. */
bool ssh_pool_awaits_host(const struct ssh_seat *seat);

/* The session stands; to be said once. */
void ssh_pool_begun(struct ssh_seat *seat);

/*
 * The client ended before the session stood, with `reason`.  True: the seat
 * waits again, since the fault may be the shared connection's, or the host too
 * busy for one more.
 */
bool ssh_pool_refused(struct ssh_seat *seat, bool by_host, const char *reason);

/* It is over, or not wanted any more.  At rest it stays so. */
void ssh_pool_leave(struct ssh_seat *seat);

#endif
