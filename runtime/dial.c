#include "runtime/dial.h"

#include <assert.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_hosts.h"
#include "common/sqlstate.h"
#include "runtime/lookup.h"
#include "runtime/loop.h"

enum {
	CONNECT_MS = 10000, /* for each host, unless connect_timeout is given */
};

struct dial {
	struct loop *loop;
	const char *conninfo, *user, *program;
	const struct dial_events *events;
	void *arg;

	struct pg_hosts hosts;
	size_t at;      /* the host being tried, or the last good host */
	size_t tried;   /* since dial_start() */
	size_t address; /* of the host being tried */
	struct lookup *lookup;
	struct pg *pg;
	struct loop_watch *watch;
	struct timer timer;
	struct error err; /* the errors of the hosts tried so far */
};

static void try_host(struct dial *dial);
static void try_address(struct dial *dial);

static void
hang_up(struct dial *dial)
{
	loop_timer_stop(dial->loop, &dial->timer);
	loop_unwatch(dial->watch);
	dial->watch = NULL;
	pg_free(dial->pg);
	dial->pg = NULL;
}

static void
end_look_up(struct dial *dial)
{
	lookup_free(dial->lookup);
	dial->lookup = NULL;
	dial->address = 0;
}

static const struct pg_host *
host_of(const struct dial *dial)
{
	return &dial->hosts.items[dial->at];
}

/* Failures --------------------------------------------------------------- */

/* Add `err`, which is used up, to the errors so far. */
static void
note(struct dial *dial, struct error *err)
{
	if (dial->err.message != NULL)
		error_set(err, "%s; %s", dial->err.message, err->message);
	error_release(&dial->err);
	dial->err = *err;
}

static void
give_up(struct dial *dial)
{
	struct error err = dial->err;

	dial->err = (struct error){ 0 };
	error_sqlstate(&err, SQLSTATE_NO_CONNECTION);
	dial->events->failed(dial->arg, &err);
	error_release(&err);
}

static void
next_host(struct dial *dial)
{
	end_look_up(dial);
	dial_avoid(dial);
	if (++dial->tried < dial->hosts.count)
		try_host(dial);
	else
		give_up(dial);
}

/* This address failed: the host may have another one. */
static void
next_address(struct dial *dial)
{
	dial->address++;
	if (dial->lookup != NULL)
		try_address(dial);
	else
		next_host(dial);
}

static void
refused(struct dial *dial, struct error *err)
{
	hang_up(dial);
	note(dial, err);
	next_address(dial);
}

static void
on_too_long(void *arg)
{
	struct dial *dial = arg;
	const struct pg_host *host = host_of(dial);
	struct error err = { 0 };
	bool looking = dial->pg == NULL;

	error_set(&err, "host \"%s\", port %s: %s in time",
	    host->host != NULL       ? host->host
	    : host->hostaddr != NULL ? host->hostaddr
	                             : "(default)",
	    host->port != NULL ? host->port : "(default)",
	    looking ? "no address" : "no answer");
	if (!looking) {
		refused(dial, &err);
		return;
	}
	note(dial, &err);
	next_host(dial);
}

static void
set_deadline(struct dial *dial)
{
	int64_t ms = dial->hosts.timeout_ms;

	dial->timer.fn = on_too_long;
	dial->timer.arg = dial;
	loop_timer_set(dial->loop, &dial->timer, ms > 0 ? ms : CONNECT_MS);
}

/* Attempts ----------------------------------------------------------------- */

static void
answered(struct dial *dial)
{
	struct pg *pg = dial->pg;

	dial->pg = NULL;
	dial_stop(dial);
	dial->events->connected(dial->arg, pg);
}

static void on_traffic(void *arg, int events);

/* libpq may go on with another socket: watch it only while waiting. */
static void
watch(struct dial *dial, int events)
{
	dial->watch = loop_watch(
	    dial->loop, pg_socket(dial->pg), events, on_traffic, dial);
}

static void
on_traffic(void *arg, int events)
{
	struct dial *dial = arg;
	struct error err = { 0 };

	(void)events;
	loop_unwatch(dial->watch);
	dial->watch = NULL;
	switch (pg_connect_poll(dial->pg, &err)) {
	case PG_WANT_READ:
		watch(dial, LOOP_READ);
		break;
	case PG_WANT_WRITE:
		watch(dial, LOOP_WRITE);
		break;
	case PG_DONE:
		answered(dial);
		break;
	case PG_FAILED:
		refused(dial, &err);
		break;
	}
}

static void
connect_to(struct dial *dial, const char *hostaddr)
{
	const struct pg_host *host = host_of(dial);
	struct pg_target target = {
		.dbname = dial->conninfo,
		.host = host->host,
		.hostaddr = hostaddr,
		.port = host->port,
		.user = dial->user,
		.program = dial->program,
	};
	struct error err = { 0 };

	dial->pg = pg_connect_start(&target, &err);
	if (dial->pg == NULL) {
		refused(dial, &err);
		return;
	}
	set_deadline(dial);
	watch(dial, LOOP_WRITE);
}

/* Try the next address that the look-up has found. */
static void
try_address(struct dial *dial)
{
	struct error err = { 0 };
	char *address = lookup_address(dial->lookup, dial->address, &err);

	if (address != NULL) {
		connect_to(dial, address);
		free(address);
		return;
	}
	if (err.message != NULL)
		note(dial, &err);
	next_host(dial);
}

static void
on_looked_up(void *arg)
{
	struct dial *dial = arg;

	loop_timer_stop(dial->loop, &dial->timer);
	try_address(dial);
}

static void
try_host(struct dial *dial)
{
	const struct pg_host *host = host_of(dial);
	struct error err = { 0 };

	if (!pg_host_is_name(host)) {
		connect_to(dial, host->hostaddr);
		return;
	}
	dial->lookup =
	    lookup_start(dial->loop, host->host, on_looked_up, dial, &err);
	if (dial->lookup == NULL) {
		note(dial, &err);
		next_host(dial);
		return;
	}
	set_deadline(dial);
}

void
dial_start(struct dial *dial)
{
	assert(dial->pg == NULL && dial->lookup == NULL);
	/* read them again, as libpq does: a service file may have changed */
	pg_hosts_release(&dial->hosts);
	pg_hosts_init(&dial->hosts, dial->conninfo);
	if (dial->at >= dial->hosts.count)
		dial->at = 0;
	dial->tried = 0;
	try_host(dial);
}

void
dial_stop(struct dial *dial)
{
	hang_up(dial);
	end_look_up(dial);
	error_release(&dial->err);
}

void
dial_avoid(struct dial *dial)
{
	dial->at = (dial->at + 1) % dial->hosts.count;
}

/* Life --------------------------------------------------------------------- */

struct dial *
dial_new(struct loop *loop, const char *conninfo, const char *user,
    const char *program, const struct dial_events *events, void *arg)
{
	struct dial *dial = xcalloc(1, sizeof(*dial));

	dial->loop = loop;
	dial->conninfo = conninfo;
	dial->user = user;
	dial->program = program;
	dial->events = events;
	dial->arg = arg;
	return dial;
}

void
dial_free(struct dial *dial)
{
	if (dial == NULL)
		return;
	dial_stop(dial);
	pg_hosts_release(&dial->hosts);
	free(dial);
}
