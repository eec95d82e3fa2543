#include "driver/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/identity.h"
#include "driver/loop.h"
#include "driver/pace.h"
#include "driver/reports.h"
#include "driver/runner.h"
#include "driver/session.h"
#include "driver/turn.h"
#include "driver/workspace.h"

enum {
	LEAVE_MS = 2000, /* for the last words of a driver in a hurry */
};

enum phase {
	PHASE_WORKING,
	PHASE_DRAINING, /* finishing what is under way */
	PHASE_LEAVING,  /* only reports are left */
};

struct scheduler {
	struct loop *loop;
	const struct config *config;
	const struct transports *transports;
	struct identity *identity;
	struct runner runner;
	struct reports *reports;
	struct pace pace;
	struct turn *turns;
	size_t turn_count;
	int64_t reserved; /* by the turns under way, of the slots */

	int64_t driver; /* our number, also when a new one is needed; 0: none */
	bool registered;
	bool changed; /* since the registration that is under way */
	bool drain_told;
	enum phase phase;
	int exit_code;
	bool down; /* and it was said */

	struct loop_call pump_call;
	struct mono last_turn;
	struct timer beat_timer, drain_timer;
};

static void
pump_later(void *arg)
{
	struct scheduler *scheduler = arg;

	loop_later(scheduler->loop, &scheduler->pump_call);
}

/* Turns begin -------------------------------------------------------------- */

/* How many requests to ask for: no more than can begin at once. */
static int64_t
wanted(const struct scheduler *scheduler)
{
	int64_t count = (int64_t)scheduler->turn_count;
	int64_t free_slots = scheduler->config->slots -
	                     (int64_t)scheduler->runner.table.active -
	                     scheduler->reserved;
	int64_t share = (scheduler->config->slots + count - 1) / count;

	if (scheduler->phase != PHASE_WORKING || free_slots < 0)
		return 0;
	return free_slots < share ? free_slots : share;
}

static void
begin_work(struct scheduler *scheduler, struct turn *turn)
{
	struct turn_work work = {
		.driver = scheduler->driver,
		.reports = scheduler->reports,
		.due = &scheduler->runner.reports,
		.want = wanted(scheduler),
		.drain =
		    scheduler->phase != PHASE_WORKING && !scheduler->drain_told,
	};

	scheduler->drain_told |= work.drain;
	scheduler->reserved += work.want;
	pace_begin(&scheduler->pace);
	turn_work(turn, &work);
}

static bool
is_work_due(const struct scheduler *scheduler)
{
	const struct pace *pace = &scheduler->pace;

	return scheduler->runner.reports.count > 0 || pace->due ||
	       (pace->hungry && wanted(scheduler) > 0);
}

/* Nothing more is to be done here. */
static bool
is_over(const struct scheduler *scheduler)
{
	return scheduler->phase != PHASE_WORKING &&
	       scheduler->runner.table.count == 0;
}

/* What waits until no other turn is under way: coming and going. */
static void
begin_alone(struct scheduler *scheduler, struct turn *turn)
{
	if (turns_under_way(scheduler->turns, scheduler->turn_count))
		return;
	if (scheduler->registered) {
		turn_leave(turn, scheduler->driver);
		return;
	}
	scheduler->changed = false;
	turn_register(turn, scheduler->identity, scheduler->driver,
	    &scheduler->runner.table);
}

/* What a session that is ready should do now, if anything. */
static void
begin_next(struct scheduler *scheduler, struct turn *turn)
{
	if (turn->must_listen)
		turn_listen(turn);
	else if (scheduler->pace.paused)
		return;
	else if (!scheduler->registered || is_over(scheduler))
		begin_alone(scheduler, turn);
	else if (is_work_due(scheduler))
		begin_work(scheduler, turn);
}

/* There is nobody to take leave of, or nobody who knows us. */
static bool
is_unknown(const struct scheduler *scheduler)
{
	return !turns_connected(scheduler->turns, scheduler->turn_count) ||
	       (scheduler->driver == 0 &&
	           !turns_under_way(scheduler->turns, scheduler->turn_count));
}

static void
pump(void *arg)
{
	struct scheduler *scheduler = arg;
	size_t i;

	if (is_over(scheduler) && is_unknown(scheduler)) {
		loop_stop(scheduler->loop);
		return;
	}
	for (i = 0; i < scheduler->turn_count; i++)
		if (session_is_ready(scheduler->turns[i].session))
			begin_next(scheduler, &scheduler->turns[i]);
}

/* Turns end ---------------------------------------------------------------- */

/* The database refused the batch: nothing of it was done. */
static void
turn_failed(struct turn *turn, const struct error *err)
{
	struct scheduler *scheduler = turn->owner;

	if (turn->kind == TURN_LISTEN) {
		log_debug("no doorbell: %s", err->message);
		return;
	}
	turn_log_failure(turn, err);
	if (strcmp(err->sqlstate, "WF010") == 0)
		scheduler->registered = false;
	pace_fail(&scheduler->pace);
}

/*
 * Done or not, nobody knows.  A poll may have given us requests of which we
 * never heard: a new registration lets the workspace know what we hold.
 */
static void
turn_lost(struct turn *turn)
{
	struct scheduler *scheduler = turn->owner;

	if (turn->kind == TURN_WORK || turn->kind == TURN_REGISTER)
		scheduler->registered = false;
}

static void
end_register(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;
	struct error err = { 0 };

	if (!workspace_schema_version_check(answer->results[0], &err)) {
		log_warnx("%s", err.message);
		error_release(&err);
		scheduler->exit_code = 1;
		loop_stop(scheduler->loop);
		return;
	}
	scheduler->driver = workspace_registered(answer->results[1]);
	scheduler->registered = !scheduler->changed;
	scheduler->drain_told = false;
	pace_hurry(&scheduler->pace);
	log_info("registered as driver %lld", (long long)scheduler->driver);
}

static void
end_work(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;
	struct runner *runner = &scheduler->runner;
	int64_t taken, wait_ms;

	if (turn->reported && !turn_answers(turn, answer->results[0], runner))
		pace_fail(&scheduler->pace);
	taken = turn_requests(
	    answer->results[turn->reported ? 1 : 0], runner, &wait_ms);
	pace_end(&scheduler->pace, taken, turn->want, wait_ms);
}

static void
turn_done(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;

	scheduler->last_turn = mono_now();
	turn->connected = true;
	if (scheduler->down)
		log_info("connected again");
	scheduler->down = false;
	switch (turn->kind) {
	case TURN_REGISTER:
		end_register(turn, answer);
		break;
	case TURN_WORK:
		end_work(turn, answer);
		break;
	case TURN_LEAVE:
		log_info("left");
		loop_stop(scheduler->loop);
		break;
	case TURN_NONE:
	case TURN_LISTEN:
	case TURN_HEARTBEAT:
		break;
	}
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	scheduler->reserved -= turn->want;
	if (answer->err != NULL)
		scheduler->drain_told = false;
	if (answer->lost)
		turn_lost(turn);
	else if (answer->err != NULL)
		turn_failed(turn, answer->err);
	else
		turn_done(turn, answer);
	/* what was not answered is reported again */
	request_list_put_back(&scheduler->runner.reports, &turn->carried);
	turn->want = 0;
	turn->kind = TURN_NONE;
	pump_later(scheduler);
}

/* Sessions ----------------------------------------------------------------- */

static void
on_ready(void *arg)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	/* one session listens for all */
	turn->must_listen = turn == &scheduler->turns[0];
	pump_later(scheduler);
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	turn->connected = false;
	if (!scheduler->down)
		log_warnx("no connection to the workspace, trying on: %s%s%s",
		    err->message, err->hint ? " hint: " : "",
		    err->hint ? err->hint : "");
	else
		log_debug("attempt %d: %s", failures, err->message);
	scheduler->down = true;
	pump_later(scheduler);
}

static void
on_notified(void *arg)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	pace_hurry(&scheduler->pace);
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
	.notified = on_notified,
};

/* Moments ------------------------------------------------------------------ */

/* A turn says that we live; a heartbeat only says so when turns fail. */
static void
on_beat(void *arg)
{
	struct scheduler *scheduler = arg;
	int64_t ms = scheduler->config->heartbeat_ms;
	size_t i;

	loop_timer_set(scheduler->loop, &scheduler->beat_timer, ms);
	if (!scheduler->registered ||
	    mono_diff_ms(mono_now(), scheduler->last_turn) < ms)
		return;
	for (i = 0; i < scheduler->turn_count; i++)
		if (session_is_ready(scheduler->turns[i].session)) {
			turn_heartbeat(&scheduler->turns[i], scheduler->driver);
			return;
		}
}

static void
on_too_late(void *arg)
{
	struct scheduler *scheduler = arg;

	if (scheduler->runner.table.count > 0)
		log_warnx("%zu outcomes could not be reported",
		    scheduler->runner.table.count);
	scheduler->exit_code = 1;
	loop_stop(scheduler->loop);
}

/* Stop everything; report what is over, if that can be had quickly. */
static void
leave_now(void *arg)
{
	struct scheduler *scheduler = arg;

	if (scheduler->phase == PHASE_LEAVING)
		return;
	scheduler->phase = PHASE_LEAVING;
	if (scheduler->runner.table.active > 0)
		scheduler->exit_code = 1;
	runner_abandon(&scheduler->runner);
	pace_resume(&scheduler->pace);
	scheduler->drain_timer.fn = on_too_late;
	loop_timer_set(scheduler->loop, &scheduler->drain_timer, LEAVE_MS);
	pump_later(scheduler);
}

void
scheduler_stop(struct scheduler *scheduler)
{
	if (scheduler->phase != PHASE_WORKING) {
		leave_now(scheduler);
		return;
	}
	log_info(
	    "stopping: %zu requests under way", scheduler->runner.table.active);
	scheduler->phase = PHASE_DRAINING;
	pace_hurry(&scheduler->pace);
	runner_drain(&scheduler->runner);
	scheduler->drain_timer.fn = leave_now;
	loop_timer_set(scheduler->loop, &scheduler->drain_timer,
	    scheduler->config->drain_timeout_ms);
	pump_later(scheduler);
}

void
scheduler_register(struct scheduler *scheduler)
{
	identity_free(scheduler->identity);
	scheduler->identity =
	    identity_new(scheduler->config, scheduler->transports);
	/* what we hold goes over, as after a lost connection */
	scheduler->registered = false;
	scheduler->changed = true;
	pump_later(scheduler);
}

void
scheduler_status(const struct scheduler *scheduler, struct buf *line)
{
	if (scheduler->phase != PHASE_WORKING)
		buf_adds(line, "stopping, ");
	if (scheduler->down)
		buf_adds(line, "no connection to the workspace");
	else if (!scheduler->registered)
		buf_adds(line, "connecting");
	else
		buf_addf(line, "driver %lld", (long long)scheduler->driver);
	buf_addf(line, ": %zu of %lld slots taken",
	    scheduler->runner.table.active,
	    (long long)scheduler->config->slots);
}

int
scheduler_exit_code(const struct scheduler *scheduler)
{
	return scheduler->exit_code;
}

/* Life --------------------------------------------------------------------- */

static void
init_timers(struct scheduler *scheduler)
{
	scheduler->beat_timer.fn = on_beat;
	scheduler->beat_timer.arg = scheduler;
	scheduler->drain_timer.arg = scheduler;
	scheduler->pump_call.fn = pump;
	scheduler->pump_call.arg = scheduler;
	loop_timer_set(scheduler->loop, &scheduler->beat_timer,
	    scheduler->config->heartbeat_ms);
}

struct scheduler *
scheduler_new(struct loop *loop, const struct config *config,
    const struct transports *transports)
{
	struct scheduler *scheduler = xcalloc(1, sizeof(*scheduler));
	struct session_options options = {
		.conninfo = config->connection,
		.program = "wf-driver",
		.answer_ms = config->turn_timeout_ms,
	};
	size_t i;

	scheduler->loop = loop;
	scheduler->config = config;
	scheduler->transports = transports;
	scheduler->identity = identity_new(config, transports);
	scheduler->reports = reports_new();
	pace_init(&scheduler->pace, loop, config, pump_later, scheduler);
	scheduler->turn_count = (size_t)config->connections;
	scheduler->turns =
	    xcalloc(scheduler->turn_count, sizeof(scheduler->turns[0]));
	runner_init(&scheduler->runner, transports, pump_later, scheduler);
	init_timers(scheduler);
	for (i = 0; i < scheduler->turn_count; i++) {
		scheduler->turns[i].owner = scheduler;
		request_list_init(&scheduler->turns[i].carried);
		scheduler->turns[i].session =
		    session_new(loop, &options, &events, &scheduler->turns[i]);
	}
	return scheduler;
}

void
scheduler_free(struct scheduler *scheduler)
{
	size_t i;

	if (scheduler == NULL)
		return;
	for (i = 0; i < scheduler->turn_count; i++)
		session_free(scheduler->turns[i].session);
	pace_release(&scheduler->pace);
	loop_timer_stop(scheduler->loop, &scheduler->beat_timer);
	loop_timer_stop(scheduler->loop, &scheduler->drain_timer);
	runner_release(&scheduler->runner);
	loop_cancel(scheduler->loop, &scheduler->pump_call);
	reports_free(scheduler->reports);
	free(scheduler->turns);
	identity_free(scheduler->identity);
	free(scheduler);
}
