#include "driver/transport/ssh/host.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/ssh/directory.h"
#include "driver/transport/ssh/link.h"
#include "driver/transport/ssh/pool.h"

enum {
	CALM_MS = 1000, /* no new connections after a failed one */
	EASE_MS = 1000, /* after a refusal, then one session more */
	REFUSALS = 3,   /* then it gets a connection of its own */
};

/*
 * A connection that the sessions of several seats share.  Its host lists it as
 * soon as its making begins.  A connection that fails, is lost or is retired
 * takes no more sessions, and is gone when its last session is.
 */
struct ssh_shared {
	struct ssh_host *host;
	struct ssh_link *link; /* NULL: gone */
	bool up;
	bool retired; /* takes no more sessions */
	int64_t sessions;
	struct timer idle_timer;
	LIST_ENTRY(ssh_shared) sibling;
};

/* What the host allows ------------------------------------------------------ */

static void
on_look(void *arg)
{
	struct ssh_host *host = arg;

	host->changed(host->arg);
}

/*
 * Allow one more.  The host may have refused before it saw that others had
 * ended.
 */
static void
on_ease(void *arg)
{
	struct ssh_host *host = arg;

	if (++host->allowed < host->config->ssh.sessions)
		loop_timer_set(host->loop, &host->ease_timer, EASE_MS);
	host->changed(host->arg);
}

/* No new connections for a moment. */
static void
calm(struct ssh_host *host)
{
	loop_timer_set(host->loop, &host->calm_timer, CALM_MS);
}

static bool
is_calm(const struct ssh_host *host)
{
	return host->calm_timer.place != 0;
}

/* How many sessions a connection to the host carries. */
static int64_t
room_of(const struct ssh_host *host)
{
	int64_t sessions = host->config->ssh.sessions;

	return host->allowed > 0 && host->allowed < sessions ? host->allowed
	                                                     : sessions;
}

/* The host has refused one more session than `sessions` on a connection. */
static void
allow(struct ssh_host *host, int64_t sessions)
{
	if (host->fewest == 0 || sessions < host->fewest) {
		log_info("ssh %s: takes no more than %lld sessions at once",
		    host->target.host, (long long)sessions);
		host->fewest = sessions;
	}
	host->allowed = sessions;
	loop_timer_set(host->loop, &host->ease_timer, EASE_MS);
}

/* Seats that wait --------------------------------------------------------- */

static void
add_waiting(struct ssh_host *host, struct ssh_seat *seat)
{
	seat->waiting = true;
	TAILQ_INSERT_TAIL(&host->seats, seat, link);
	host->waiting++;
}

static void
take_waiting(struct ssh_host *host, struct ssh_seat *seat)
{
	TAILQ_REMOVE(&host->seats, seat, link);
	host->waiting--;
	seat->waiting = false;
}

/*
 * Tell all seats that wait, or only those that have tried in vain since the last
 * session began.  A seat may ask again in its callback.
 */
static void
fail(struct ssh_host *host, const char *reason, bool only_tried)
{
	struct ssh_seat *seat;
	int64_t count = host->waiting;

	while (count-- > 0 && (seat = TAILQ_FIRST(&host->seats)) != NULL) {
		take_waiting(host, seat);
		if (only_tried && seat->tried != host->begun) {
			add_waiting(host, seat);
			continue;
		}
		seat->host = NULL;
		host->seated--;
		seat->failed(seat->arg, reason);
	}
}

/* Shared connections --------------------------------------------------------- */

/* How many there are, with those being made. */
static int64_t
count_shared(const struct ssh_host *host)
{
	const struct ssh_shared *shared;
	int64_t count = 0;

	for (shared = LIST_FIRST(&host->connections); shared != NULL;
	     shared = LIST_NEXT(shared, sibling))
		count += !shared->retired;
	return count;
}

/* End the connection at once, even if requests use it. */
static void
free_shared(struct ssh_shared *shared)
{
	LIST_REMOVE(shared, sibling);
	loop_timer_stop(shared->host->loop, &shared->idle_timer);
	ssh_link_free(shared->link);
	free(shared);
}

static void
free_unused(struct ssh_shared *shared)
{
	if (shared->retired && shared->sessions == 0)
		free_shared(shared);
}

static void
on_idle(void *arg)
{
	struct ssh_shared *shared = arg;
	struct ssh_host *host = shared->host;

	free_shared(shared);
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

/*
 * If there are other connections, the host may only be too busy for one more.
 */
static void
connection_failed(struct ssh_host *host, const char *reason)
{
	host->starting--;
	if (count_shared(host) == 0)
		fail(host, reason, false);
	else
		calm(host);
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

/*
 * Begin a connection shared at `socket`, and take over the string.  False: it
 * can't be begun, and every request that waited for it has been told why.
 */
static bool
new_shared(struct ssh_host *host, char *socket)
{
	struct ssh_shared *shared = xcalloc(1, sizeof(*shared));
	struct error err = { 0 };

	shared->host = host;
	shared->idle_timer.fn = on_idle;
	shared->idle_timer.arg = shared;
	shared->link = ssh_link_new(host->loop, host->config, &host->target,
	    socket, &link_events, shared, &err);
	LIST_INSERT_HEAD(&host->connections, shared, sibling);
	if (shared->link == NULL) {
		fail(host, err.message, false);
		error_release(&err);
		free_shared(shared);
		return false;
	}
	host->starting++;
	return true;
}

/*
 * The connection with the most room, so that all get the same load; NULL: none
 * has room.
 */
static struct ssh_shared *
find_shared(const struct ssh_host *host)
{
	struct ssh_shared *shared, *best = NULL;

	for (shared = LIST_FIRST(&host->connections); shared != NULL;
	     shared = LIST_NEXT(shared, sibling))
		if (shared->up && !shared->retired &&
		    shared->sessions < room_of(host) &&
		    (best == NULL || shared->sessions < best->sessions))
			best = shared;
	return best;
}

/* One more session uses the connection.  Returns its socket. */
static const char *
enter_shared(struct ssh_shared *shared)
{
	loop_timer_stop(shared->host->loop, &shared->idle_timer);
	shared->sessions++;
	return ssh_link_socket(shared->link);
}

/* One session leaves it. */
static void
leave_shared(struct ssh_shared *shared)
{
	shared->sessions--;
	free_unused(shared);
}

/* Connections that nobody uses now will be closed in a while. */
static void
rest(struct ssh_host *host)
{
	struct ssh_shared *shared;

	for (shared = LIST_FIRST(&host->connections); shared != NULL;
	     shared = LIST_NEXT(shared, sibling))
		if (shared->up && shared->sessions == 0 &&
		    shared->idle_timer.place == 0)
			loop_timer_set(host->loop, &shared->idle_timer,
			    host->config->ssh.idle_ms);
}

/* Granting ------------------------------------------------------------------- */

static void
seat_share(struct ssh_host *host, struct ssh_shared *shared)
{
	struct ssh_seat *seat = TAILQ_FIRST(&host->seats);

	take_waiting(host, seat);
	seat->shared = shared;
	seat->granted(seat->arg, enter_shared(shared));
}

static void
seat_alone(struct ssh_host *host)
{
	struct ssh_seat *seat = TAILQ_FIRST(&host->seats);

	take_waiting(host, seat);
	seat->starting = true;
	seat->tried = host->begun;
	host->starting++;
	seat->granted(seat->arg, NULL);
}

/* Whether one more connection helps the seats that wait. */
static bool
wants_more(struct ssh_host *host)
{
	if (count_shared(host) >= host->config->ssh.connections ||
	    is_calm(host) || host->starting * room_of(host) >= host->waiting)
		return false;
	if (count_shared(host) == 0)
		return true;
	if (!ssh_host_is_awaited(host) &&
	    crowd_waits_long(&host->crowd, host->waiting, mono_now()))
		return true;
	if (host->look_timer.place == 0)
		loop_timer_set(host->loop, &host->look_timer, CROWD_LOOK_MS);
	return false;
}

/*
 * Whether the first seat gets its own connection.  A host that needs calm
 * avoids it.
 */
static bool
sits_alone(const struct ssh_host *host, const struct ssh_directory *directory)
{
	return directory == NULL ||
	       (TAILQ_FIRST(&host->seats)->alone && !is_calm(host));
}

/* Grant what can be granted now. */
static void
grant(struct ssh_host *host, struct ssh_directory *directory)
{
	const struct config *config = host->config;
	struct ssh_shared *shared;

	while (!TAILQ_EMPTY(&host->seats)) {
		if (sits_alone(host, directory)) {
			if (host->starting >= config->ssh.connecting ||
			    is_calm(host))
				return;
			seat_alone(host);
		} else if ((shared = find_shared(host)) != NULL) {
			seat_share(host, shared);
		} else if (host->starting >= config->ssh.connecting ||
		           !wants_more(host) ||
		           !new_shared(host, ssh_directory_socket(directory))) {
			return;
		}
	}
	crowd_gone(&host->crowd);
}

void
ssh_host_serve(struct ssh_host *host, struct ssh_directory *directory)
{
	grant(host, directory);
	rest(host);
}

/* Seats ----------------------------------------------------------------------- */

void
ssh_host_ask(struct ssh_host *host, struct ssh_seat *seat)
{
	seat->host = host;
	host->seated++;
	add_waiting(host, seat);
	host->changed(host->arg);
}

bool
ssh_host_is_awaited(const struct ssh_host *host)
{
	const struct ssh_shared *shared;

	for (shared = LIST_FIRST(&host->connections); shared != NULL;
	     shared = LIST_NEXT(shared, sibling))
		if (shared->up)
			return false;
	return !LIST_EMPTY(&host->connections);
}

static void
end_start(struct ssh_seat *seat)
{
	seat->host->starting -= seat->starting;
	seat->starting = false;
}

void
ssh_host_begun(struct ssh_seat *seat)
{
	struct ssh_host *host = seat->host;

	host->begun++;
	end_start(seat);
	host->changed(host->arg);
}

/* The seat gives back its connection and its turn. */
static void
seat_empty(struct ssh_seat *seat)
{
	end_start(seat);
	if (seat->shared != NULL) {
		leave_shared(seat->shared);
		seat->shared = NULL;
	}
	seat->host->changed(seat->host->arg);
}

static void
session_refused(struct ssh_seat *seat, bool by_host)
{
	struct ssh_host *host = seat->host;
	int64_t others = seat->shared->sessions - 1;

	if (by_host && others > 0 && others < room_of(host))
		allow(host, others);
	seat->alone = ++seat->refusals >= REFUSALS || (by_host && others == 0);
}

/*
 * A seat's own connection was refused.  The host is only too busy if a session
 * of another seat began meanwhile, or still may.
 */
static bool
connection_refused(struct ssh_seat *seat, const char *reason)
{
	struct ssh_host *host = seat->host;

	if (seat->tried == host->begun && host->starting == 1) {
		fail(host, reason, true);
		return false;
	}
	calm(host);
	seat->alone = false;
	seat->refusals = 0;
	return true;
}

bool
ssh_host_refused(struct ssh_seat *seat, bool by_host, const char *reason)
{
	struct ssh_host *host = seat->host;

	if (seat->shared != NULL)
		session_refused(seat, by_host);
	else if (!connection_refused(seat, reason))
		return false;
	seat_empty(seat);
	add_waiting(host, seat);
	return true;
}

void
ssh_host_leave(struct ssh_seat *seat)
{
	struct ssh_host *host = seat->host;

	if (host == NULL)
		return;
	if (seat->waiting)
		take_waiting(host, seat);
	if (seat->shared != NULL)
		crowd_ended(&host->crowd);
	seat_empty(seat);
	seat->host = NULL;
	host->seated--;
}

/* Life ------------------------------------------------------------------------- */

struct ssh_host *
ssh_host_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, void (*changed)(void *arg), void *arg)
{
	struct ssh_host *host = xcalloc(1, sizeof(*host));

	host->loop = loop;
	host->config = config;
	host->target.host = xstrdup(target->host);
	host->target.user = target->user ? xstrdup(target->user) : NULL;
	host->target.port = target->port;
	TAILQ_INIT(&host->seats);
	host->begun = 1;
	host->calm_timer.fn = on_look;
	host->calm_timer.arg = host;
	host->look_timer.fn = on_look;
	host->look_timer.arg = host;
	host->ease_timer.fn = on_ease;
	host->ease_timer.arg = host;
	host->changed = changed;
	host->arg = arg;
	return host;
}

void
ssh_host_free(struct ssh_host *host)
{
	while (!LIST_EMPTY(&host->connections))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it takes itself out */
		free_shared(LIST_FIRST(&host->connections));
	loop_timer_stop(host->loop, &host->calm_timer);
	loop_timer_stop(host->loop, &host->look_timer);
	loop_timer_stop(host->loop, &host->ease_timer);
	free((char *)host->target.host);
	free((char *)host->target.user);
	free(host);
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
ssh_host_is(const struct ssh_host *host, const struct ssh_target *target)
{
	return same(host->target.host, target->host) &&
	       same(host->target.user, target->user) &&
	       host->target.port == target->port;
}

void
ssh_host_retire(struct ssh_host *host)
{
	struct ssh_shared *shared, *next;

	for (shared = LIST_FIRST(&host->connections); shared != NULL;
	     shared = next) {
		next = LIST_NEXT(shared, sibling);
		shared->retired = true;
		if (shared->up)
			free_unused(shared);
	}
}

bool
ssh_host_has_waiting(const struct ssh_host *host)
{
	return !TAILQ_EMPTY(&host->seats);
}

bool
ssh_host_is_unused(const struct ssh_host *host)
{
	return host->seated == 0 && LIST_EMPTY(&host->connections);
}
