/*
 * host.h - a host that commands run on: the requests that wait for a seat
 * there, the connections that they share, and how many sessions the host
 * allows.  Only pool.c uses it; the pool has the list of hosts.
 */
#ifndef DRIVER_TRANSPORT_SSH_HOST_H
#define DRIVER_TRANSPORT_SSH_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "driver/transport/ssh/client.h"
#include "driver/transport/ssh/crowd.h"
#include "runtime/loop.h"

struct config;
struct ssh_directory;
struct ssh_seat;
struct ssh_shared;

/* The link is the pool's, and all else is for host.c only. */
struct ssh_host {
	LIST_ENTRY(ssh_host) link;
	struct loop *loop;
	const struct config *config;
	struct ssh_target target; /* its strings are the host's */
	TAILQ_HEAD(ssh_seats, ssh_seat)
	seats; /* requests that wait, in order */
	LIST_HEAD(ssh_connections, ssh_shared) connections;
	int64_t waiting, seated;
	int64_t starting;   /* connections that are being made */
	int64_t begun;      /* one more than all sessions that ever stood */
	int64_t allowed;    /* sessions on a connection; 0: none was refused */
	int64_t fewest;     /* the least that it ever was, or 0 */
	struct crowd crowd; /* the seats that wait */
	struct timer calm_timer, ease_timer, look_timer;
	void (*changed)(void *arg);
	void *arg;
};

/* `changed`: called when it may be able to serve a request. */
struct ssh_host *ssh_host_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, void (*changed)(void *arg), void *arg);

/* End its connections at once, even if requests use them. */
void ssh_host_free(struct ssh_host *host);

/* Whether `target` means this host. */
bool ssh_host_is(const struct ssh_host *host, const struct ssh_target *target);

/* Whether a request waits there; whether it has neither a seat nor a connection. */
bool ssh_host_has_waiting(const struct ssh_host *host);
bool ssh_host_is_unused(const struct ssh_host *host);

/*
 * Grant all seats that can be granted now.  Connections are shared through
 * sockets in `directory`; NULL: they are not shared.
 */
void ssh_host_serve(struct ssh_host *host, struct ssh_directory *directory);

/* The connections that exist now take no new sessions. */
void ssh_host_retire(struct ssh_host *host);

/* The same as the functions of pool.h, for a seat at this host. */
void ssh_host_ask(struct ssh_host *host, struct ssh_seat *seat);
bool ssh_host_is_awaited(const struct ssh_host *host);
void ssh_host_begun(struct ssh_seat *seat);
bool ssh_host_refused(struct ssh_seat *seat, bool by_host, const char *reason);
void ssh_host_leave(struct ssh_seat *seat);

#endif
