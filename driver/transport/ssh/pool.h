/*
 * pool.h - which command may use which connection to which host, and when.
 *
 * The commands for one host share connections.  There are limits for the
 * sessions on a connection, for the connections, and for those that are being
 * made at a time.  Commands beyond these limits wait for a seat.  If a host
 * allows fewer sessions than we think, we follow the host.  A command that
 * cannot share gets a connection of its own.
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

/* A command's place; its memory is the caller's.  Events come from the loop. */
struct ssh_seat {
	/* Begin: through `socket`, or on a connection of its own (NULL). */
	void (*granted)(void *arg, const char *socket);

	/* No connection can be made; `reason` says why. */
	void (*failed)(void *arg, const char *reason);
	void *arg;

	/* For the host only. */
	struct ssh_host *host; /* NULL: at rest */
	struct ssh_shared *shared;
	bool waiting;
	bool alone;    /* wants a connection of its own */
	bool starting; /* that one is being made */
	int refusals;
	int64_t tried; /* the host's `begun` when it tried; 0: never */
	TAILQ_ENTRY(ssh_seat) link; /* among the seats that wait */
};

struct ssh_pool *ssh_pool_new(struct loop *loop, const struct config *config);
void ssh_pool_free(struct ssh_pool *pool);

/* Options have changed: the connections that exist now take no new sessions. */
void ssh_pool_renew(struct ssh_pool *pool);

void ssh_pool_ask(struct ssh_pool *pool, struct ssh_seat *seat,
    const struct ssh_target *target);

/* Whether the seat waits until the host is reached, not just for its turn. */
bool ssh_pool_awaits_host(const struct ssh_seat *seat);

/* The session stands; call this once. */
void ssh_pool_begun(struct ssh_seat *seat);

/*
 * The client ended before the session stood, with `reason`.  True: the seat
 * waits again, since the shared connection may be at fault, or the host too
 * busy for one more.
 */
bool ssh_pool_refused(struct ssh_seat *seat, bool by_host, const char *reason);

/* The session is over, or not wanted any more.  No effect on a seat at rest. */
void ssh_pool_leave(struct ssh_seat *seat);

#endif
