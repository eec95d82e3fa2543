#include "driver/ssh_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/ssh_client.h"
#include "driver/ssh_directory.h"
#include "driver/ssh_link.h"

enum {
	REFUSALS = 3,   /* then a connection of its own */
	CALM_MS = 1000, /* without new connections after one that failed */
	EASE_MS = 1000, /* then one session more on each, after a refusal */
};

/* A connection that sessions share. */
struct ssh_shared {
	struct ssh_host *host;
	struct ssh_link *link; /* NULL: gone */
	bool up;
	bool retired; /* takes no more sessions */
	int64_t sessions;
	struct timer idle_timer;
	struct ssh_shared *next;
};

struct ssh_host {
	struct ssh_pool *pool;
	struct ssh_target target; /* its strings are the host's */
	struct ssh_seat *first, **end;
	struct ssh_shared *shared;
	int64_t waiting, seated;
	int64_t starting; /* connections that are being made */
	int64_t allowed;  /* sessions on one; 0: it has not refused any */
	int64_t fewest;   /* that it ever was, 0 the same */
	struct timer calm_timer, ease_timer;
	struct ssh_host *next;
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
look_later(struct ssh_pool *pool)
{
	loop_later(pool->loop, &pool->call);
}

/* Hosts -------------------------------------------------------------------- */

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
on_calm(void *arg)
{
	struct ssh_host *host = arg;

	look_later(host->pool);
}

/* It may have refused since it was slow to see that others had ended. */
static void
on_ease(void *arg)
{
	struct ssh_host *host = arg;

	if (++host->allowed < host->pool->config->ssh.sessions)
		loop_timer_set(host->pool->loop, &host->ease_timer, EASE_MS);
	look_later(host->pool);
}

static struct ssh_host *
host_get(struct ssh_pool *pool, const struct ssh_target *target)
{
	struct ssh_host *host;

	for (host = pool->hosts; host != NULL; host = host->next)
		if (same(host->target.host, target->host) &&
		    same(host->target.user, target->user) &&
		    host->target.port == target->port)
			return host;
	host = xcalloc(1, sizeof(*host));
	host->pool = pool;
	host->target.host = xstrdup(target->host);
	host->target.user = target->user ? xstrdup(target->user) : NULL;
	host->target.port = target->port;
	host->end = &host->first;
	host->calm_timer.fn = on_calm;
	host->calm_timer.arg = host;
	host->ease_timer.fn = on_ease;
	host->ease_timer.arg = host;
	host->next = pool->hosts;
	pool->hosts = host;
	return host;
}

static void
host_free(struct ssh_host *host)
{
	loop_timer_stop(host->pool->loop, &host->calm_timer);
	loop_timer_stop(host->pool->loop, &host->ease_timer);
	free((char *)host->target.host);
	free((char *)host->target.user);
	free(host);
}

static void
seat_wait(struct ssh_host *host, struct ssh_seat *seat)
{
	seat->waiting = true;
	seat->next = NULL;
	*host->end = seat;
	host->end = &seat->next;
	host->waiting++;
}

static void
seat_take(struct ssh_host *host, struct ssh_seat *seat)
{
	struct ssh_seat **place = &host->first;

	while (*place != seat)
		place = &(*place)->next;
	*place = seat->next;
	if (host->end == &seat->next)
		host->end = place;
	host->waiting--;
	seat->waiting = false;
}

/* Shared connections ------------------------------------------------------- */

static void
shared_free(struct ssh_shared *shared)
{
	struct ssh_shared **place = &shared->host->shared;

	while (*place != shared)
		place = &(*place)->next;
	*place = shared->next;
	loop_timer_stop(shared->host->pool->loop, &shared->idle_timer);
	ssh_link_free(shared->link);
	free(shared);
}

static void
on_idle(void *arg)
{
	struct ssh_shared *shared = arg;
	struct ssh_pool *pool = shared->host->pool;

	shared_free(shared);
	look_later(pool);
}

/* One less uses it. */
static void
shared_left(struct ssh_shared *shared)
{
	if (shared->retired && shared->sessions == 0)
		shared_free(shared);
}

static void
on_up(void *arg)
{
	struct ssh_shared *shared = arg;

	struct ssh_pool *pool = shared->host->pool;

	shared->up = true;
	shared->host->starting--;
	shared_left(shared);
	look_later(pool);
}

/* Everybody who waits hears it; they may ask again meanwhile. */
static void
fail_waiting(struct ssh_host *host, const char *reason)
{
	struct ssh_seat *seat;
	int64_t count = host->waiting;

	while (count-- > 0 && (seat = host->first) != NULL) {
		seat_take(host, seat);
		seat->host = NULL;
		host->seated--;
		seat->failed(seat->arg, reason);
	}
}

/* How many are there or are being made. */
static int64_t
shared_count(const struct ssh_host *host)
{
	const struct ssh_shared *shared;
	int64_t count = 0;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		count += !shared->retired;
	return count;
}

/* A host that has others may only be too busy for one more. */
static void
connection_failed(struct ssh_host *host, const char *reason)
{
	host->starting--;
	if (shared_count(host) == 0)
		fail_waiting(host, reason);
	else
		loop_timer_set(host->pool->loop, &host->calm_timer, CALM_MS);
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
	shared_left(shared);
	look_later(host->pool);
}

static const struct ssh_link_events link_events = {
	.up = on_up,
	.down = on_down,
};

static bool
have_directory(struct ssh_pool *pool)
{
	struct error err = { 0 };

	if (pool->directory != NULL || pool->no_directory)
		return pool->directory != NULL;
	pool->directory = ssh_directory_new(pool->config->ssh.socket_dir, &err);
	if (pool->directory != NULL)
		return true;
	pool->no_directory = true;
	log_warnx("connections over ssh are not shared: %s", err.message);
	error_release(&err);
	return false;
}

static bool
shared_new(struct ssh_host *host)
{
	struct ssh_pool *pool = host->pool;
	struct ssh_shared *shared = xcalloc(1, sizeof(*shared));
	struct error err = { 0 };

	shared->host = host;
	shared->idle_timer.fn = on_idle;
	shared->idle_timer.arg = shared;
	shared->link = ssh_link_new(pool->loop, pool->config, &host->target,
	    ssh_directory_socket(pool->directory), &link_events, shared, &err);
	shared->next = host->shared;
	host->shared = shared;
	if (shared->link == NULL) {
		fail_waiting(host, err.message);
		error_release(&err);
		shared_free(shared);
		return false;
	}
	host->starting++;
	return true;
}

/* Seats -------------------------------------------------------------------- */

/* How many sessions a connection carries. */
static int64_t
room(const struct ssh_host *host)
{
	int64_t sessions = host->pool->config->ssh.sessions;

	return host->allowed > 0 && host->allowed < sessions ? host->allowed
	                                                     : sessions;
}

/* The one with the most room, so that all get the same; NULL: none has any. */
static struct ssh_shared *
find_room(const struct ssh_host *host)
{
	struct ssh_shared *shared, *best = NULL;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		if (shared->up && !shared->retired &&
		    shared->sessions < room(host) &&
		    (best == NULL || shared->sessions < best->sessions))
			best = shared;
	return best;
}

static void
seat_share(struct ssh_host *host, struct ssh_shared *shared)
{
	struct ssh_seat *seat = host->first;

	seat_take(host, seat);
	loop_timer_stop(host->pool->loop, &shared->idle_timer);
	shared->sessions++;
	seat->shared = shared;
	seat->granted(seat->arg, ssh_link_socket(shared->link));
}

static void
seat_alone(struct ssh_host *host)
{
	struct ssh_seat *seat = host->first;

	seat_take(host, seat);
	seat->starting = true;
	host->starting++;
	seat->granted(seat->arg, NULL);
}

/* More are wanted than those that are there or begun can carry. */
static bool
wants_more(const struct ssh_host *host)
{
	return shared_count(host) < host->pool->config->ssh.connections &&
	       host->calm_timer.place == 0 &&
	       host->starting * room(host) < host->waiting;
}

/* Grant what can be granted now. */
static void
serve(struct ssh_host *host)
{
	const struct config *config = host->pool->config;
	struct ssh_shared *shared;

	while (host->first != NULL) {
		if (config->ssh.sessions == 0 || host->first->alone ||
		    !have_directory(host->pool)) {
			if (host->starting >= config->ssh.connecting)
				return;
			seat_alone(host);
		} else if ((shared = find_room(host)) != NULL) {
			seat_share(host, shared);
		} else if (host->starting >= config->ssh.connecting ||
		           !wants_more(host) || !shared_new(host)) {
			return;
		}
	}
}

/* What nobody uses now will be closed. */
static void
rest(struct ssh_host *host)
{
	struct ssh_pool *pool = host->pool;
	struct ssh_shared *shared;

	for (shared = host->shared; shared != NULL; shared = shared->next)
		if (shared->up && shared->sessions == 0 &&
		    shared->idle_timer.place == 0)
			loop_timer_set(pool->loop, &shared->idle_timer,
			    pool->config->ssh.idle_ms);
}

static void
look(void *arg)
{
	struct ssh_pool *pool = arg;
	struct ssh_host **place = &pool->hosts, *host;

	while ((host = *place) != NULL) {
		serve(host);
		rest(host);
		if (host->seated == 0 && host->shared == NULL) {
			*place = host->next;
			host_free(host);
		} else {
			place = &host->next;
		}
	}
}

void
ssh_pool_ask(struct ssh_pool *pool, struct ssh_seat *seat,
    const struct ssh_target *target)
{
	seat->host = host_get(pool, target);
	seat->host->seated++;
	seat_wait(seat->host, seat);
	look_later(pool);
}

void
ssh_pool_begun(struct ssh_pool *pool, struct ssh_seat *seat)
{
	if (!seat->starting)
		return;
	seat->starting = false;
	seat->host->starting--;
	look_later(pool);
}

/* It holds neither connection nor turn any more. */
static void
seat_empty(struct ssh_pool *pool, struct ssh_seat *seat)
{
	ssh_pool_begun(pool, seat);
	if (seat->shared != NULL) {
		seat->shared->sessions--;
		shared_left(seat->shared);
		seat->shared = NULL;
	}
	look_later(pool);
}

/* The host has refused one more than `sessions` on a connection. */
static void
host_allows(struct ssh_host *host, int64_t sessions)
{
	if (host->fewest == 0 || sessions < host->fewest) {
		log_info("ssh %s: takes no more than %lld sessions at once",
		    host->target.host, (long long)sessions);
		host->fewest = sessions;
	}
	host->allowed = sessions;
	loop_timer_set(host->pool->loop, &host->ease_timer, EASE_MS);
}

bool
ssh_pool_refused(struct ssh_pool *pool, struct ssh_seat *seat, bool by_host)
{
	struct ssh_host *host = seat->host;
	int64_t others;

	if (seat->shared == NULL)
		return false;
	others = seat->shared->sessions - 1;
	if (by_host && others > 0 && others < room(host))
		host_allows(host, others);
	seat->alone = ++seat->refusals >= REFUSALS || (by_host && others == 0);
	seat_empty(pool, seat);
	seat_wait(host, seat);
	return true;
}

void
ssh_pool_leave(struct ssh_pool *pool, struct ssh_seat *seat)
{
	struct ssh_host *host = seat->host;

	if (host == NULL)
		return;
	if (seat->waiting)
		seat_take(host, seat);
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
	struct ssh_shared *shared, *next;

	for (host = pool->hosts; host != NULL; host = host->next)
		for (shared = host->shared; shared != NULL; shared = next) {
			next = shared->next;
			shared->retired = true;
			if (shared->up)
				shared_left(shared);
		}
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
			shared_free(host->shared);
		pool->hosts = host->next;
		host_free(host);
	}
	ssh_directory_free(pool->directory);
	free(pool);
}
