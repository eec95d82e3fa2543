#include "driver/transport/ssh/pool.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/ssh/directory.h"
#include "driver/transport/ssh/host.h"
#include "runtime/loop.h"

struct ssh_pool {
	struct loop *loop;
	const struct config *config;
	struct ssh_directory *directory;
	bool no_directory; /* there is none, and this was logged */
	LIST_HEAD(ssh_hosts, ssh_host) hosts;
	struct loop_call call;
};

static void
look_later(void *arg)
{
	struct ssh_pool *pool = arg;

	loop_later(pool->loop, &pool->call);
}

/* The directory for sockets of shared connections; NULL: nothing is shared. */
static struct ssh_directory *
directory(struct ssh_pool *pool)
{
	struct error err = { 0 };

	if (pool->config->ssh.sessions == 0)
		return NULL;
	if (pool->directory == NULL)
		pool->directory =
		    ssh_directory_new(pool->config->ssh.socket_dir, &err);
	if (pool->directory == NULL && !pool->no_directory)
		log_warnx(
		    "connections over ssh are not shared: %s", err.message);
	pool->no_directory = pool->directory == NULL;
	error_release(&err);
	return pool->directory;
}

static void
look(void *arg)
{
	struct ssh_pool *pool = arg;
	struct ssh_host *host, *next;

	for (host = LIST_FIRST(&pool->hosts); host != NULL; host = next) {
		ssh_host_serve(
		    host, ssh_host_has_waiting(host) ? directory(pool) : NULL);
		next = LIST_NEXT(host, link);
		if (ssh_host_is_unused(host)) {
			LIST_REMOVE(host, link);
			ssh_host_free(host);
		}
	}
}

/* Seats -------------------------------------------------------------------- */

static struct ssh_host *
find_host(struct ssh_pool *pool, const struct ssh_target *target)
{
	struct ssh_host *host;

	for (host = LIST_FIRST(&pool->hosts); host != NULL;
	     host = LIST_NEXT(host, link))
		if (ssh_host_is(host, target))
			return host;
	host = ssh_host_new(pool->loop, pool->config, target, look_later, pool);
	LIST_INSERT_HEAD(&pool->hosts, host, link);
	return host;
}

void
ssh_pool_ask(struct ssh_pool *pool, struct ssh_seat *seat,
    const struct ssh_target *target)
{
	ssh_host_ask(find_host(pool, target), seat);
}

bool
ssh_pool_awaits_host(const struct ssh_seat *seat)
{
	return seat->waiting && ssh_host_is_awaited(seat->host);
}

void
ssh_pool_begun(struct ssh_seat *seat)
{
	ssh_host_begun(seat);
}

bool
ssh_pool_refused(struct ssh_seat *seat, bool by_host, const char *reason)
{
	return ssh_host_refused(seat, by_host, reason);
}

void
ssh_pool_leave(struct ssh_seat *seat)
{
	if (seat->host != NULL)
		ssh_host_leave(seat);
}

/* The pool ----------------------------------------------------------------- */

struct ssh_pool *
ssh_pool_new(struct loop *loop, const struct config *config)
{
	struct ssh_pool *pool = xcalloc(1, sizeof(*pool));

	LIST_INIT(&pool->hosts);
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

	for (host = LIST_FIRST(&pool->hosts); host != NULL;
	     host = LIST_NEXT(host, link))
		ssh_host_retire(host);
	look_later(pool);
}

void
ssh_pool_free(struct ssh_pool *pool)
{
	struct ssh_host *host;

	loop_cancel(pool->loop, &pool->call);
	while ((host = LIST_FIRST(&pool->hosts)) != NULL) {
		LIST_REMOVE(host, link);
		ssh_host_free(host);
	}
	ssh_directory_free(pool->directory);
	free(pool);
}
