/*
 * ssh_shared.h - a connection to a host that the sessions of several seats
 * share.  For ssh_pool only.
 *
 * It is listed with its host from when it begins to be made.  One that fails, is
 * lost or is retired takes no more sessions, and is gone when its last one is.
 */
#ifndef DRIVER_SSH_SHARED_H
#define DRIVER_SSH_SHARED_H

#include <stdbool.h>
#include <stdint.h>

struct ssh_host;
struct ssh_shared;

/*
 * Begin a shared connection through `socket`, and take over the string.  False:
 * it can't be begun, and every request that waited for it has been told why.
 */
bool ssh_shared_new(struct ssh_host *host, char *socket);

/* End the connection at once, even if requests use it. */
void ssh_shared_free(struct ssh_shared *shared);

/* How many of a host are there or are being made. */
int64_t ssh_shared_count(const struct ssh_host *host);

/* Whether all of them are still being made; false: or there is none. */
bool ssh_shared_is_awaited(const struct ssh_host *host);

/* The one with the most room, so that all get the same; NULL: none has any. */
struct ssh_shared *ssh_shared_find(const struct ssh_host *host);

/* One more session uses it: through which socket. */
const char *ssh_shared_enter(struct ssh_shared *shared);

/* One session less uses it. */
void ssh_shared_leave(struct ssh_shared *shared);

/* How many do. */
int64_t ssh_shared_sessions(const struct ssh_shared *shared);

/* Those of a host that nobody uses now will be closed in a while. */
void ssh_shared_rest(struct ssh_host *host);

/* Those of a host take no more sessions. */
void ssh_shared_retire(struct ssh_host *host);

#endif
