#include "driver/ssh_shared.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/ssh_host.h"
#include "driver/ssh_link.h"

struct ssh_shared {
	struct ssh_host *host;
	struct ssh_link *link; /* NULL: gone */
	bool up;
	bool retired; /* takes no more sessions */
	int64_t sessions;
	struct timer idle_timer;
	struct ssh_shared *next;
};

void
ssh_shared_free(struct ssh_shared *shared)
{
	struct ssh_shared **place = &shared->host->shared;

	while (*place != shared)
		place = &(*place)->next;
	*place = shared->next;
	loop_timer_stop(shared->host->loop, &shared->idle_timer);
	ssh_link_free(shared->link);
	free(shared);
}

static void
free_unused(struct ssh_shared *shared)
{
	if (shared->retired && shared->sessions == 0)
		ssh_shared_free(shared);
}

/* Its life ----------------------------------------------------------------- */

static void
on_idle(void *arg)
{
	struct ssh_shared *shared = arg;
	struct ssh_host *host = shared->host;

	ssh_shared_free(shared);
	host->changed(host->arg);
}

static void
on_up(void *arg)
{
	struct ssh_shared *shared = arg;
	struct ssh_host *host = shared->host;

	shared->up = true;
	host->starting--;
	free_unused(shared);
	host->changed(host->arg);
}

/* A host that has others may only be too busy for one more. */
static void
connection_failed(struct ssh_host *host, const char *reason)
{
	host->starting--;
	if (ssh_shared_count(host) == 0)
		ssh_host_fail(host, reason);
	else
		ssh_host_calm(host);
}

static void
on_down(void *arg, const char *reason)
{
	struct ssh_shared *shared = arg;
	struct ssh_host *host = shared->host;
	bool connected = shared->up;

	ssh_link_free(shared->link);
	shared->link = NULL;
	shared->retired = true;
	log_debug("ssh %s: %s", host->target.host, reason);
	if (!connected)
		connection_failed(host, reason);
	free_unused(shared);
	host->changed(host->arg);
}

static const struct ssh_link_events link_events = {
	.up = on_up,
	.down = on_down,
};

bool
ssh_shared_new(struct ssh_host *host, char *socket)
{
	struct ssh_shared *shared = xcalloc(1, sizeof(*shared));
	struct error err = { 0 };

	shared->host = host;
	shared->idle_timer.fn = on_idle;
	shared->idle_timer.arg = shared;
	shared->link = ssh_link_new(host->loop, host->config, &host->target,
	    socket, &link_events, shared, &err);
	shared->next = host->shared;
	host->shared = shared;
	if (shared->link == NULL) {
		ssh_host_fail(host, err.message);
		error_release(&err);
		ssh_shared_free(shared);
		return false;
	}
	host->starting++;
	return true;
}

void
ssh_shared_retire(struct ssh_host *host)
{
	struct ssh_shared *shared, *next;

	for (shared = host->shared; shared != NULL; shared = next) {
		next = shared->next;
		shared->retired = true;
		if (shared->up)
			free_unused(shared);
	}
}

/* Its sessions ------------------------------------------------------------- */

int64_t
ssh_shared_count(const struct ssh_host *host)
{
	const struct ssh_shared *shared;
	int64_t count = 0;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		count += !shared->retired;
	return count;
}

bool
ssh_shared_is_awaited(const struct ssh_host *host)
{
	const struct ssh_shared *shared;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		if (shared->up)
			return false;
	return host->shared != NULL;
}

struct ssh_shared *
ssh_shared_find(const struct ssh_host *host)
{
	struct ssh_shared *shared, *best = NULL;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		if (shared->up && !shared->retired &&
		    shared->sessions < ssh_host_room(host) &&
		    (best == NULL || shared->sessions < best->sessions))
			best = shared;
	return best;
}

const char *
ssh_shared_enter(struct ssh_shared *shared)
{
	loop_timer_stop(shared->host->loop, &shared->idle_timer);
	shared->sessions++;
	return ssh_link_socket(shared->link);
}

void
ssh_shared_leave(struct ssh_shared *shared)
{
	shared->sessions--;
	free_unused(shared);
}

int64_t
ssh_shared_sessions(const struct ssh_shared *shared)
{
	return shared->sessions;
}

void
ssh_shared_rest(struct ssh_host *host)
{
	struct ssh_shared *shared;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		if (shared->up && shared->sessions == 0 &&
		    shared->idle_timer.place == 0)
			loop_timer_set(host->loop, &shared->idle_timer,
			    host->config->ssh.idle_ms);
}
