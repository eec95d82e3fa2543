#include "runtime/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/sqlstate.h"
#include "runtime/backoff.h"
#include "runtime/cancel.h"
#include "runtime/dial.h"
#include "runtime/exposure.h"
#include "runtime/loop.h"

struct session {
	struct loop *loop;
	struct session_options options;
	const struct session_events *events;
	void *arg;

	struct dial *dial;
	struct pg *pg; /* NULL: no connection */
	struct exposure *exposure;
	int failures;
	struct loop_watch *watch;
	struct timer timer; /* for the batch, or the pause */
	struct loop_call fail_call;
	struct error failure;  /* why fail_call was asked for */
	struct cancel *cancel; /* on its way; NULL: none */

	bool busy;
	int syncs; /* of the batch; not come yet */
	bool held; /* has ended, but a cancel might hit the next one */
	struct session_answer answer;
	struct error err; /* of the batch */
};

/* Connecting --------------------------------------------------------------- */

static void
forget_cancel(struct session *session)
{
	cancel_free(session->cancel);
	session->cancel = NULL;
}

static void
disconnect(struct session *session)
{
	loop_timer_stop(session->loop, &session->timer);
	dial_stop(session->dial);
	loop_unwatch(session->watch);
	session->watch = NULL;
	pg_free(session->pg);
	session->pg = NULL;
	exposure_drop(session->exposure);
	session->exposure = NULL;
	forget_cancel(session);
	session->held = false;
}

static void
on_pause_over(void *arg)
{
	struct session *session = arg;

	dial_start(session->dial);
}

static void
pause_before_next(struct session *session)
{
	session->timer.fn = on_pause_over;
	loop_timer_set(
	    session->loop, &session->timer, backoff_ms(session->failures));
}

static void
answer_release(struct session *session)
{
	while (session->answer.count > 0)
		pg_result_free(
		    session->answer.results[--session->answer.count]);
	session->answer = (struct session_answer){ 0 };
	error_release(&session->err);
	session->busy = false;
}

/* Hand the answer over; the session may be used from within. */
static void
answer_give(struct session *session, const struct error *err, bool lost)
{
	struct session_answer answer = session->answer;
	struct error own = session->err;

	session->answer = (struct session_answer){ 0 };
	session->err = (struct error){ 0 };
	session->busy = false;
	session->syncs = 0;
	answer.err = own.message != NULL ? &own : err;
	answer.lost = lost;
	session->events->answer(session->arg, &answer);
	while (answer.count > 0)
		pg_result_free(answer.results[--answer.count]);
	error_release(&own);
}

/* The connection is lost, for the reason in `failure`. */
static void
fail(struct session *session)
{
	struct error err = session->failure;

	session->failure = (struct error){ 0 };
	disconnect(session);
	session->failures++;
	pause_before_next(session);
	if (session->busy)
		answer_give(session, &err, true);
	session->events->down(session->arg, &err, session->failures);
	error_release(&err);
}

static void
on_fail_call(void *arg)
{
	struct session *session = arg;

	if (session->failure.message != NULL)
		fail(session);
}

/*
 * Stop watching at once: libpq may have closed the socket, and the next
 * descriptor that is opened gets its number.
 */
static void
fail_later(struct session *session)
{
	loop_unwatch(session->watch);
	session->watch = NULL;
	loop_later(session->loop, &session->fail_call);
}

static void
on_too_long(void *arg)
{
	session_reset(arg, "no answer in time");
}

static void
set_deadline(struct session *session, int64_t ms)
{
	session->timer.fn = on_too_long;
	if (ms > 0)
		loop_timer_set(session->loop, &session->timer, ms);
	else
		loop_timer_stop(session->loop, &session->timer);
}

static void on_traffic(void *arg, int events);

static void
on_connected(void *arg, struct pg *pg)
{
	struct session *session = arg;

	session->pg = pg;
	session->exposure = exposure_hold(session->options.label, pg);
	session->watch = loop_watch(
	    session->loop, pg_socket(pg), LOOP_READ, on_traffic, session);
	session->events->ready(session->arg);
}

static void
on_failed(void *arg, const struct error *err)
{
	struct session *session = arg;

	session->failures++;
	pause_before_next(session);
	session->events->down(session->arg, err, session->failures);
}

static const struct dial_events dial_events = {
	.connected = on_connected,
	.failed = on_failed,
};

/* Batches ------------------------------------------------------------------ */

static void
watch_for(struct session *session)
{
	if (session->watch != NULL)
		loop_watch_set(session->watch,
		    LOOP_READ | (pg_wants_write(session->pg) ? LOOP_WRITE : 0));
}

/*
 * Only an answer shows that the connection works: a pooler accepts anybody.  A
 * read-only server is a standby, or fenced off; then another server may be the
 * primary.  Wait for a cancel that is still on its way.
 */
static void
batch_end(struct session *session)
{
	set_deadline(session, 0);
	pg_drop_rows(session->pg, false);
	session->held = session->cancel != NULL;
	if (session->held)
		return;
	if (sqlstate_is(session->err.sqlstate, SQLSTATE_READ_ONLY)) {
		session_avoid(session, "the server is read-only");
	} else {
		session->failures = 0;
	}
	answer_give(session, NULL, false);
}

/* Take the next event; false when there is no event, or no session. */
static bool
take_event(struct session *session)
{
	struct session_answer *answer = &session->answer;
	struct pg_result *result = NULL;
	struct error err = { 0 };

	switch (pg_next(session->pg, &result, &err)) {
	case PG_EVENT_RESULT:
		assert(answer->count < SESSION_QUERIES);
		answer->results[answer->count++] = result;
		if (session->err.message == NULL)
			answer->done = answer->count;
		return true;
	case PG_EVENT_ERROR:
		if (session->err.message == NULL)
			session->err = err;
		else
			error_release(&err);
		return true;
	case PG_EVENT_SKIPPED:
		return true;
	case PG_EVENT_SYNC:
		if (--session->syncs > 0)
			return true;
		batch_end(session);
		return false;
	case PG_EVENT_BROKEN:
		session->failure = err;
		fail(session);
		return false;
	case PG_EVENT_NONE:
		break;
	}
	watch_for(session);
	return false;
}

static void
take_notifies(struct session *session)
{
	char *channel;

	while ((channel = pg_take_notify(session->pg)) != NULL) {
		free(channel);
		if (session->events->notified != NULL)
			session->events->notified(session->arg);
	}
}

static void
on_traffic(void *arg, int events)
{
	struct session *session = arg;

	(void)events;
	if (!pg_work(session->pg, &session->failure)) {
		fail(session);
		return;
	}
	take_notifies(session);
	while (take_event(session))
		;
}

void
session_send(
    struct session *session, const char *sql, const struct pg_params *params)
{
	session->busy = true;
	if (session->failure.message == NULL &&
	    !pg_send(session->pg, sql, params, &session->failure))
		fail_later(session);
}

void
session_drop_rows(struct session *session)
{
	pg_drop_rows(session->pg, true);
}

void
session_split(struct session *session)
{
	session->syncs++;
	if (session->failure.message == NULL &&
	    !pg_sync(session->pg, &session->failure))
		fail_later(session);
}

void
session_go(struct session *session)
{
	session_split(session);
	set_deadline(session, session->options.answer_ms);
	if (session->failure.message == NULL)
		watch_for(session);
}

int64_t
session_answer_ms(const struct session *session)
{
	return session->options.answer_ms;
}

int
session_backend(const struct session *session)
{
	return session->pg != NULL ? pg_backend(session->pg) : 0;
}

bool
session_is_ready(const struct session *session)
{
	return session->pg != NULL && !session->busy &&
	       session->failure.message == NULL;
}

void
session_reset(struct session *session, const char *reason)
{
	if (session->pg == NULL) {
		LOG_IN(LOG_LEVEL_DEBUG, session->options.label,
		    "no connection to give up: %s", reason);
		return;
	}
	error_set(&session->failure, "%s", reason);
	error_sqlstate(&session->failure, SQLSTATE_CONNECTION_LOST);
	fail_later(session);
}

static void
on_cancelled(void *arg)
{
	struct session *session = arg;

	forget_cancel(session);
	if (session->held)
		batch_end(session);
}

void
session_cancel(struct session *session)
{
	if (session->pg != NULL && session->cancel == NULL)
		session->cancel = cancel_send(
		    session->loop, session->pg, on_cancelled, session);
}

void
session_avoid(struct session *session, const char *reason)
{
	if (session->pg != NULL) {
		LOG_IN(LOG_LEVEL_DEBUG, session->options.label,
		    "trying another server: %s", reason);
		dial_avoid(session->dial);
	}
	session_reset(session, reason);
}

/* Life --------------------------------------------------------------------- */

struct session *
session_new(struct loop *loop, const struct session_options *options,
    const struct session_events *events, void *arg)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->loop = loop;
	session->options = *options;
	session->events = events;
	session->arg = arg;
	session->dial = dial_new(loop, options->conninfo, options->user,
	    options->program, &dial_events, session);
	session->timer.arg = session;
	session->fail_call.fn = on_fail_call;
	session->fail_call.arg = session;
	session->timer.fn = on_pause_over;
	loop_timer_set(loop, &session->timer, 0);
	return session;
}

void
session_free(struct session *session)
{
	if (session == NULL)
		return;
	disconnect(session);
	dial_free(session->dial);
	answer_release(session);
	error_release(&session->failure);
	loop_cancel(session->loop, &session->fail_call);
	free(session);
}
