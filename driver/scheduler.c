#include "driver/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/sqlstate.h"
#include "driver/config/config.h"
#include "driver/deferred.h"
#include "driver/identity.h"
#include "driver/keep.h"
#include "driver/metrics.h"
#include "driver/pace.h"
#include "driver/pulse.h"
#include "driver/reports.h"
#include "driver/runner.h"
#include "driver/share.h"
#include "driver/transport/transport.h"
#include "driver/turn.h"
#include "driver/workspace.h"
#include "runtime/loop.h"
#include "runtime/session.h"

enum {
	LEAVE_MS = 2000, /* for the last words of a driver in a hurry */

	/*
	 * The driver asks for no work while more bytes of reports than
	 * BYTES_WAITING wait for a turn, or more than BYTES_KEPT wait for
	 * instances that others hold.  The second limit is higher: a
	 * transaction that holds one instance should not stop the work of all
	 * other instances.
	 */
	BYTES_WAITING = 2 << 20,
	BYTES_KEPT = 64 << 20,
};

enum phase {
	PHASE_WORKING,
	PHASE_DRAINING, /* finishing what is under way */
	PHASE_LEAVING,  /* only reports are left */
};

struct scheduler {
	struct scheduler_options options;
	struct loop *loop;
	const struct config *config;
	const char *label;
	struct identity *identity;
	struct metrics metrics;
	struct runner runner;
	struct reports *reports;
	struct deferred deferred;
	struct pulse *pulse;
	struct pace pace;
	struct turns turns;
	int64_t reserved; /* slots that turns under way asked for */
	struct share share;
	struct keep keep;
	struct poll_window window;
	bool upkeep;      /* is due */
	bool much_upkeep; /* is due, so several sessions may do it */
	bool poll_failed; /* a poll broke off; upkeep will tell the workspace */
	bool drain_told;
	enum phase phase;
	bool over;
	int exit_code;
	bool down; /* no connection; logged */

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

/* The scheduler has ended; tell its owner once. */
static void
finish(struct scheduler *scheduler)
{
	if (scheduler->over)
		return;
	scheduler->over = true;
	scheduler->options.ended(scheduler->options.arg);
}

/* Turns begin -------------------------------------------------------------- */

/* Say how many slots are taken, by requests and by turns under way. */
static void
count_slots(struct scheduler *scheduler)
{
	share_set(&scheduler->share,
	    (int64_t)scheduler->runner.table.slots + scheduler->reserved,
	    scheduler->pace.hungry, scheduler->phase != PHASE_WORKING);
}

/* How much to ask for: no more than can begin at once. */
static struct load
wanted(const struct scheduler *scheduler)
{
	const struct runner *runner = &scheduler->runner;
	int64_t turns = (int64_t)scheduler->turns.count;
	struct load want;

	if (scheduler->phase != PHASE_WORKING ||
	    turns_waiting(&scheduler->turns, &runner->reports) >
	        BYTES_WAITING ||
	    runner->deferred.bytes > BYTES_KEPT)
		return (struct load){ 0 };
	want = poll_window_want(&scheduler->window,
	    share_want(&scheduler->share, turns),
	    share_most(&scheduler->share, turns),
	    (int64_t)runner->reports.count);
	keep_divide(&scheduler->keep, &runner->table,
	    scheduler->options.shares->count, &want);
	return want;
}

static void
begin_work(struct scheduler *scheduler, struct turn *turn)
{
	int64_t driver = identity_driver(scheduler->identity);
	bool drain =
	    scheduler->phase != PHASE_WORKING && !scheduler->drain_told;
	struct load want;

	turn_report(turn, driver, &scheduler->runner, scheduler->reports,
	    scheduler->pace.output);
	want = wanted(scheduler);
	scheduler->reserved += keep_ask(&scheduler->keep, &want);
	scheduler->drain_told |= drain;
	count_slots(scheduler);
	pace_begin(&scheduler->pace);
	turn_poll(turn, driver, want, drain);
}

/* Whether more than `few` slots are free, and there may be as many requests. */
static bool
has_room(const struct scheduler *scheduler, int64_t few)
{
	return scheduler->pace.hungry && wanted(scheduler).slots > few;
}

static bool
is_work_due(const struct scheduler *scheduler)
{
	/* a poll costs the workspace nearly as much for one as for many */
	int64_t few =
	    share_most(&scheduler->share, (int64_t)scheduler->turns.count) / 16;

	/* before upkeep, another poll would meet the same item again */
	if (scheduler->poll_failed && scheduler->phase == PHASE_WORKING)
		return false;
	return scheduler->runner.reports.count > 0 || scheduler->pace.due ||
	       scheduler->pace.output || scheduler->window.full ||
	       has_room(scheduler, few);
}

/* Nothing more is to be done here. */
static bool
is_over(const struct scheduler *scheduler)
{
	return scheduler->phase != PHASE_WORKING &&
	       scheduler->runner.table.count == 0;
}

/* Work that waits until no other turn is under way: registering and leaving. */
static void
begin_alone(struct scheduler *scheduler, struct turn *turn)
{
	if (turns_under_way(&scheduler->turns))
		return;
	if (identity_is_known(scheduler->identity)) {
		turn_leave(turn, identity_driver(scheduler->identity));
		return;
	}
	turns_register(&scheduler->turns, turn, scheduler->identity,
	    &scheduler->runner.table);
}

/*
 * Make a report that has to be made alone, if there is one.  Only one session
 * does so at a time, for the report may hold it up.
 */
static bool
begin_report(struct scheduler *scheduler, struct turn *turn)
{
	struct request *request;

	if (turns_do(&scheduler->turns, TURN_REPORT) ||
	    !turns_takes_long_ones(&scheduler->turns, turn))
		return false;
	request = deferred_alone(&scheduler->deferred);
	if (request == NULL)
		return false;
	turn_report_alone(turn, identity_driver(scheduler->identity),
	    &scheduler->runner, scheduler->reports, request);
	return true;
}

/*
 * Whether this session does upkeep next.  One session at a time does upkeep,
 * and not twice in a row while there is other work.  If there is no other work
 * but much upkeep, several sessions do upkeep.
 */
static bool
is_upkeep_due(const struct scheduler *scheduler, struct turn *turn)
{
	bool busy = is_work_due(scheduler);

	return scheduler->phase == PHASE_WORKING &&
	       turns_takes_long_ones(&scheduler->turns, turn) &&
	       (scheduler->upkeep ||
	           turns_naming(&scheduler->turns, turn) != NULL) &&
	       !(turn->upkept && busy) &&
	       ((scheduler->much_upkeep && !busy) ||
	           !turns_do(&scheduler->turns, TURN_UPKEEP));
}

static void
begin_upkeep(struct scheduler *scheduler, struct turn *turn)
{
	struct turn *named = turns_naming(&scheduler->turns, turn);

	turn_upkeep(turn, named != NULL ? turn_take_item(named) : 0,
	    scheduler->poll_failed);
	scheduler->upkeep = false;
	scheduler->poll_failed = false;
}

/* The next work of a session that is ready, if there is any. */
static void
begin_next(struct scheduler *scheduler, struct turn *turn)
{
	turns_sort(&scheduler->turns, turn, scheduler->reports,
	    &scheduler->runner.reports);
	if (turn->is_new)
		turn_open(turn, turns_listens(&scheduler->turns, turn));
	else if (scheduler->pace.paused)
		return;
	else if (!identity_is_known(scheduler->identity) || is_over(scheduler))
		begin_alone(scheduler, turn);
	else if (scheduler->metrics.due)
		turn_counters(turn, identity_driver(scheduler->identity),
		    &scheduler->metrics);
	else if (!begin_report(scheduler, turn)) {
		if (is_upkeep_due(scheduler, turn))
			begin_upkeep(scheduler, turn);
		else if (is_work_due(scheduler))
			begin_work(scheduler, turn);
	}
}

/* The driver has no connection on which to leave, or has no number yet. */
static bool
is_unknown(const struct scheduler *scheduler)
{
	return !turns_connected(&scheduler->turns) ||
	       (identity_driver(scheduler->identity) == 0 &&
	           !turns_under_way(&scheduler->turns));
}

static void
pump(void *arg)
{
	struct scheduler *scheduler = arg;
	size_t i;

	if (is_over(scheduler) && is_unknown(scheduler))
		finish(scheduler);
	if (scheduler->over)
		return;
	count_slots(scheduler);
	pace_output(&scheduler->pace, scheduler->runner.fresh);
	pace_room(&scheduler->pace, has_room(scheduler, 0));
	for (i = 0; i < scheduler->turns.count; i++)
		if (session_is_ready(scheduler->turns.all[i].session))
			begin_next(scheduler, &scheduler->turns.all[i]);
}

/* Turns end ---------------------------------------------------------------- */

/* The database refused the batch and did none of it. */
static void
turn_failed(struct turn *turn, const struct error *err)
{
	struct scheduler *scheduler = turn->owner;

	turn_log_failure(turn, err);
	/* a driver works without a doorbell, and without counters */
	if (turn->kind == TURN_OPEN || turn->kind == TURN_COUNTERS)
		return;
	/* a procedure is missing: the workspace may have been upgraded */
	if (sqlstate_is(err->sqlstate, SQLSTATE_DRIVER_GONE) ||
	    sqlstate_is(err->sqlstate, SQLSTATE_NO_FUNCTION))
		identity_forget(scheduler->identity);
	/*
	 * the connection has another login, or numbers were given a second time
	 */
	if (sqlstate_is(err->sqlstate, SQLSTATE_OTHER_LOGIN))
		identity_disown(scheduler->identity);
	/* the workspace has another key than when it gave the marks */
	if (sqlstate_is(err->sqlstate, SQLSTATE_FOREIGN_MARK))
		turns_drop_marks(&scheduler->turns);
	/* a restart may bring the driver of the workspace's version */
	if (sqlstate_is(err->sqlstate, SQLSTATE_OTHER_VERSION) &&
	    !scheduler->options.persists) {
		scheduler->exit_code = 1;
		finish(scheduler);
	}
	pace_fail(&scheduler->pace);
}

static void
end_register(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;

	identity_registered(scheduler->identity, answer);
	turns_drop_marks(&scheduler->turns);
	scheduler->drain_told = false;
	metrics_hurry(&scheduler->metrics);
	pace_hurry(&scheduler->pace);
	LOG_IN(LOG_LEVEL_INFO, scheduler->label, "registered as driver %lld",
	    (long long)identity_driver(scheduler->identity));
}

static void
end_work(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;
	struct runner *runner = &scheduler->runner;
	struct load taken;
	struct rest rest;

	if (!turn_answers(turn, answer, runner, scheduler->reports))
		pace_fail(&scheduler->pace);
	rest = turn_requests(turn, answer, runner, &taken);
	poll_window_end(&scheduler->window, &taken, &turn->want);
	pace_end(&scheduler->pace, &taken, &turn->want, &rest);
	scheduler->upkeep |= rest.work > 0;
	scheduler->much_upkeep = rest.work > 1;
}

static void
end_report(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;
	struct runner *runner = &scheduler->runner;
	size_t before = runner->deferred.count;

	if (!turn_answers(turn, answer, runner, scheduler->reports))
		pace_fail(&scheduler->pace);
	if (runner->deferred.count == before)
		deferred_waited(&scheduler->deferred);
}

static void
end_upkeep(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;

	turn_upkeep_done(turn, answer);
	pace_hurry(&scheduler->pace); /* it may have made something ready */
}

static void
turn_done(struct turn *turn, const struct session_answer *answer)
{
	struct scheduler *scheduler = turn->owner;

	scheduler->last_turn = mono_now();
	turn_works(turn);
	if (scheduler->down) {
		LOG_IN(LOG_LEVEL_INFO, scheduler->label, "connected again");
		transports_connected(scheduler->options.transports, true);
	}
	scheduler->down = false;
	switch (turn->kind) {
	case TURN_OPEN:
		turns_gather(&scheduler->turns, turn, answer);
		break;
	case TURN_REGISTER:
		end_register(turn, answer);
		break;
	case TURN_WORK:
		end_work(turn, answer);
		break;
	case TURN_REPORT:
		end_report(turn, answer);
		break;
	case TURN_UPKEEP:
		end_upkeep(turn, answer);
		break;
	case TURN_LEAVE:
		LOG_IN(LOG_LEVEL_INFO, scheduler->label, "left");
		finish(scheduler);
		break;
	case TURN_NONE:
	case TURN_HEARTBEAT:
	case TURN_COUNTERS:
		break;
	}
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	scheduler->reserved -= keep_answer(&scheduler->keep, &turn->want);
	reports_end(scheduler->reports, &turn->carried);
	turn_count(turn, &scheduler->metrics, answer->err != NULL);
	if (answer->err != NULL) {
		scheduler->drain_told = false;
		turn_blame(turn, answer);
		if (turn_blames_poll(turn, answer))
			scheduler->upkeep = scheduler->poll_failed = true;
	}
	if (answer->lost)
		identity_forget(scheduler->identity);
	else if (answer->err != NULL)
		turn_failed(turn, answer->err);
	else
		turn_done(turn, answer);
	turn_end(turn, &scheduler->runner);
	deferred_end_turn(&scheduler->deferred);
	pump_later(scheduler);
}

/* Sessions ----------------------------------------------------------------- */

static void
on_ready(void *arg)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	metrics_add(&scheduler->metrics, METRIC_CONNECTIONS_MADE);
	turn_renew(turn);
	pump_later(scheduler);
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	/*
	 * The driver must register again when a connection is back.  The lost
	 * poll may have claimed requests whose rows never reached the driver.
	 * The workspace may have lost its latest transactions.
	 */
	if (turn_lost(turn)) {
		identity_forget(scheduler->identity);
		metrics_add(&scheduler->metrics, METRIC_CONNECTIONS_LOST);
	} else {
		metrics_add(&scheduler->metrics, METRIC_CONNECTIONS_FAILED);
	}
	turn_log_down(turn, err, scheduler->down ? failures : 0);
	if (!scheduler->down)
		transports_connected(scheduler->options.transports, false);
	scheduler->down = true;
	pump_later(scheduler);
}

static void
on_notified(void *arg)
{
	struct turn *turn = arg;
	struct scheduler *scheduler = turn->owner;

	metrics_add(&scheduler->metrics, METRIC_DOORBELLS);
	pace_ring(&scheduler->pace);
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
	.notified = on_notified,
};

/* Moments ------------------------------------------------------------------ */

/*
 * A turn is a sign of life.  A heartbeat is needed only while turns fail or
 * take long.  If all sessions are busy, the heartbeat takes a connection of its
 * own.
 */
static void
on_beat(void *arg)
{
	struct scheduler *scheduler = arg;
	int64_t ms = scheduler->config->heartbeat_ms;
	int64_t driver = identity_driver(scheduler->identity);
	struct turn *turn = turns_ready(&scheduler->turns);

	loop_timer_set(scheduler->loop, &scheduler->beat_timer, ms);
	if (mono_diff_ms(mono_now(), scheduler->last_turn) < ms)
		pulse_rest(scheduler->pulse);
	else if (turn != NULL && identity_is_known(scheduler->identity))
		turn_heartbeat(turn, driver);
	else if (driver != 0 && turns_connected(&scheduler->turns))
		pulse_beat(scheduler->pulse, driver);
}

static void
on_given_up(void *arg, int64_t driver)
{
	struct scheduler *scheduler = arg;

	/* the driver may have another number by now */
	if (identity_driver(scheduler->identity) == driver)
		identity_forget(scheduler->identity);
	pump_later(scheduler);
}

static void
on_too_late(void *arg)
{
	struct scheduler *scheduler = arg;

	if (scheduler->runner.table.count > 0)
		LOG_IN(LOG_LEVEL_WARN, scheduler->label,
		    "%zu outcomes could not be reported",
		    scheduler->runner.table.count);
	scheduler->exit_code = 1;
	finish(scheduler);
}

/* Stop all requests; report those that are over, if that is quick. */
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
	LOG_IN(LOG_LEVEL_INFO, scheduler->label,
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
	/* the requests that we hold go over, as after a lost connection */
	identity_change(scheduler->identity, scheduler->config,
	    scheduler->options.transports);
	pump_later(scheduler);
}

void
scheduler_tell_counters(struct scheduler *scheduler)
{
	metrics_tell(&scheduler->metrics, scheduler->label);
}

void
scheduler_status(const struct scheduler *scheduler, struct buf *line)
{
	if (scheduler->label[0] != '\0')
		buf_addf(line, "%s: ", scheduler->label);
	if (scheduler->phase != PHASE_WORKING)
		buf_adds(line, "stopping, ");
	if (scheduler->down)
		buf_adds(line, "no connection to the workspace");
	else if (!identity_is_known(scheduler->identity))
		buf_adds(line, "connecting");
	else
		buf_addf(line, "driver %lld",
		    (long long)identity_driver(scheduler->identity));
	buf_addf(line, ": %zu of %lld slots taken",
	    scheduler->runner.table.slots, (long long)scheduler->config->slots);
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

static void
open_sessions(struct scheduler *scheduler)
{
	const struct config *config = scheduler->config;
	struct session_options options = {
		.conninfo = scheduler->options.conninfo,
		.program = "wf-driver",
		.label = scheduler->label,
		.answer_ms = config->turn_timeout_ms,
	};

	turns_open(&scheduler->turns, (size_t)config->connections,
	    scheduler->loop, &options, &events, scheduler);
	/* a sign of life that takes longer goes to another session */
	options.answer_ms = 2 * config->heartbeat_ms;
	scheduler->pulse =
	    pulse_new(scheduler->loop, &options, on_given_up, scheduler);
}

struct scheduler *
scheduler_new(const struct scheduler_options *options)
{
	struct scheduler *scheduler = xcalloc(1, sizeof(*scheduler));

	scheduler->options = *options;
	scheduler->loop = options->loop;
	scheduler->config = options->config;
	scheduler->label = options->label;
	scheduler->identity =
	    identity_new(options->config, options->transports);
	scheduler->reports = reports_new();
	scheduler->share.changed = pump_later;
	scheduler->share.arg = scheduler;
	share_join(&scheduler->share, options->shares);
	scheduler->keep.transports = options->transports;
	scheduler->keep.config = options->config;
	metrics_init(&scheduler->metrics, options->loop, pump_later, scheduler);
	pace_init(&scheduler->pace, options->loop, options->config, pump_later,
	    scheduler);
	runner_init(&scheduler->runner, options->transports, options->label,
	    &scheduler->metrics, pump_later, scheduler);
	init_timers(scheduler);
	deferred_init(&scheduler->deferred, options->loop,
	    &scheduler->runner.deferred, &scheduler->runner.reports, pump_later,
	    scheduler);
	open_sessions(scheduler);
	return scheduler;
}

void
scheduler_free(struct scheduler *scheduler)
{
	if (scheduler == NULL)
		return;
	turns_close(&scheduler->turns);
	pulse_free(scheduler->pulse);
	deferred_release(&scheduler->deferred);
	pace_release(&scheduler->pace);
	loop_timer_stop(scheduler->loop, &scheduler->beat_timer);
	loop_timer_stop(scheduler->loop, &scheduler->drain_timer);
	metrics_release(&scheduler->metrics);
	runner_release(&scheduler->runner);
	share_leave(&scheduler->share);
	loop_cancel(scheduler->loop, &scheduler->pump_call);
	reports_free(scheduler->reports);
	identity_free(scheduler->identity);
	free(scheduler);
}
