#include "driver/ssh_pool.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/ssh_directory.h"
#include "driver/ssh_host.h"
#include "driver/ssh_shared.h"

enum {
	REFUSALS = 3, /* then a connection of its own */
};

struct ssh_pool {
	struct loop *loop;
	const struct config *config;
	struct ssh_directory *directory;
	bool no_directory; /* there is none, and it was said */
	struct ssh_host *hosts;
	struct loop_call call;
};

static void
look_later(void *arg)
{
	struct ssh_pool *pool = arg;

	loop_later(pool->loop, &pool->call);
}

/* Granting ----------------------------------------------------------------- */

static bool
have_directory(struct ssh_pool *pool)
{
	struct error err = { 0 };

	if (pool->directory == NULL)
		pool->directory =
		    ssh_directory_new(pool->config->ssh.socket_dir, &err);
	if (pool->directory == NULL && !pool->no_directory)
		log_warnx(
		    "connections over ssh are not shared: %s", err.message);
	pool->no_directory = pool->directory == NULL;
	error_release(&err);
	return !pool->no_directory;
}

static void
seat_share(struct ssh_host *host, struct ssh_shared *shared)
{
	struct ssh_seat *seat = host->first;

	ssh_host_take(host, seat);
	seat->shared = shared;
	seat->granted(seat->arg, ssh_shared_enter(shared));
}

static void
seat_alone(struct ssh_host *host)
{
	struct ssh_seat *seat = host->first;

	ssh_host_take(host, seat);
	seat->starting = true;
	seat->tried = host->begun;
	host->starting++;
	seat->granted(seat->arg, NULL);
}

/* More are wanted than those that are there or begun can carry. */
static bool
wants_more(const struct ssh_host *host)
{
	return ssh_shared_count(host) < host->config->ssh.connections &&
	       !ssh_host_is_calm(host) &&
	       host->starting * ssh_host_room(host) < host->waiting;
}

/* A host that wants calm has no room for a connection that need not be. */
static bool
sits_alone(struct ssh_pool *pool, const struct ssh_host *host)
{
	return pool->config->ssh.sessions == 0 || !have_directory(pool) ||
	       (host->first->alone && !ssh_host_is_calm(host));
}

/* Grant what can be granted now. */
static void
serve(struct ssh_pool *pool, struct ssh_host *host)
{
	const struct config *config = pool->config;
	struct ssh_shared *shared;

	while (host->first != NULL) {
		if (sits_alone(pool, host)) {
			if (host->starting >= config->ssh.connecting ||
			    ssh_host_is_calm(host))
				return;
			seat_alone(host);
		} else if ((shared = ssh_shared_find(host)) != NULL) {
			seat_share(host, shared);
		} else if (host->starting >= config->ssh.connecting ||
		           !wants_more(host) ||
		           !ssh_shared_new(
		               host, ssh_directory_socket(pool->directory))) {
			return;
		}
	}
}

static void
look(void *arg)
{
	struct ssh_pool *pool = arg;
	struct ssh_host **place = &pool->hosts, *host;

	while ((host = *place) != NULL) {
		serve(pool, host);
		ssh_shared_rest(host);
		if (host->seated == 0 && host->shared == NULL) {
			*place = host->next;
			ssh_host_free(host);
		} else {
			place = &host->next;
		}
	}
}

/* Seats -------------------------------------------------------------------- */

static struct ssh_host *
find_host(struct ssh_pool *pool, const struct ssh_target *target)
{
	struct ssh_host *host;

	for (host = pool->hosts; host != NULL; host = host->next)
		if (ssh_host_is(host, target))
			return host;
	host = ssh_host_new(pool->loop, pool->config, target, look_later, pool);
	host->next = pool->hosts;
	pool->hosts = host;
	return host;
}

void
ssh_pool_ask(struct ssh_pool *pool, struct ssh_seat *seat,
    const struct ssh_target *target)
{
	seat->host = find_host(pool, target);
	seat->host->seated++;
	ssh_host_wait(seat->host, seat);
	look_later(pool);
}

bool
ssh_pool_awaits_host(const struct ssh_seat *seat)
{
	return seat->waiting && ssh_shared_is_awaited(seat->host);
}

static void
end_start(struct ssh_seat *seat)
{
	seat->host->starting -= seat->starting;
	seat->starting = false;
}

void
ssh_pool_begun(struct ssh_pool *pool, struct ssh_seat *seat)
{
	seat->host->begun++;
	end_start(seat);
	look_later(pool);
}

/* It holds neither connection nor turn any more. */
static void
seat_empty(struct ssh_pool *pool, struct ssh_seat *seat)
{
	end_start(seat);
	if (seat->shared != NULL) {
		ssh_shared_leave(seat->shared);
		seat->shared = NULL;
	}
	look_later(pool);
}

static void
session_refused(struct ssh_seat *seat, bool by_host)
{
	struct ssh_host *host = seat->host;
	int64_t others = ssh_shared_sessions(seat->shared) - 1;

	if (by_host && others > 0 && others < ssh_host_room(host))
		ssh_host_refused(host, others);
	seat->alone = ++seat->refusals >= REFUSALS || (by_host && others == 0);
}

/*
 * Its own connection: the host is only too busy if a session of somebody else
 * began meanwhile, or still may.
 */
static bool
connection_refused(struct ssh_seat *seat, const char *reason)
{
	struct ssh_host *host = seat->host;

	if (seat->tried == host->begun && host->starting == 1) {
		ssh_host_fail_tried(host, reason);
		return false;
	}
	ssh_host_calm(host);
	seat->alone = false;
	seat->refusals = 0;
	return true;
}

bool
ssh_pool_refused(struct ssh_pool *pool, struct ssh_seat *seat, bool by_host,
    const char *reason)
{
	struct ssh_host *host = seat->host;

	if (seat->shared != NULL)
		session_refused(seat, by_host);
	else if (!connection_refused(seat, reason))
		return false;
	seat_empty(pool, seat);
	ssh_host_wait(host, seat);
	return true;
}

void
ssh_pool_leave(struct ssh_pool *pool, struct ssh_seat *seat)
{
	struct ssh_host *host = seat->host;

	if (host == NULL)
		return;
	if (seat->waiting)
		ssh_host_take(host, seat);
	seat_empty(pool, seat);
	seat->host = NULL;
	host->seated--;
}

/* The pool ----------------------------------------------------------------- */

struct ssh_pool *
ssh_pool_new(struct loop *loop, const struct config *config)
{
	struct ssh_pool *pool = xcalloc(1, sizeof(*pool));

	pool->loop = loop;
	pool->config = config;
	pool->call.fn = look;
	pool->call.arg = pool;
	return pool;
}

void
ssh_pool_renew(struct ssh_pool *pool)
{
	struct ssh_host *host;

	for (host = pool->hosts; host != NULL; host = host->next)
		ssh_shared_retire(host);
	look_later(pool);
}

void
ssh_pool_free(struct ssh_pool *pool)
{
	struct ssh_host *host;

	loop_cancel(pool->loop, &pool->call);
	while ((host = pool->hosts) != NULL) {
		while (host->shared != NULL)
			/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it takes itself out */
			ssh_shared_free(host->shared);
		pool->hosts = host->next;
		ssh_host_free(host);
	}
	ssh_directory_free(pool->directory);
	free(pool);
}
