#include "driver/turn.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"
#include "driver/deferred.h"
#include "driver/identity.h"
#include "driver/metrics.h"
#include "driver/reports.h"
#include "driver/runner.h"
#include "driver/workspace.h"
#include "runtime/session.h"

static const char *const names[] = {
	[TURN_NONE] = "nothing",
	[TURN_OPEN] = "open",
	[TURN_REGISTER] = "register",
	[TURN_WORK] = "turn",
	[TURN_REPORT] = "report",
	[TURN_UPKEEP] = "upkeep",
	[TURN_HEARTBEAT] = "heartbeat",
	[TURN_COUNTERS] = "counters",
	[TURN_LEAVE] = "leave",
};

static void
begin(struct turn *turn, enum turn_kind kind)
{
	turn->kind = kind;
	turn->upkept = kind == TURN_UPKEEP;
	session_go(turn->session);
}

void
turn_renew(struct turn *turn)
{
	turn->is_new = true;
}

void
turn_works(struct turn *turn)
{
	turn->connected = true;
}

bool
turn_lost(struct turn *turn)
{
	bool had_worked = turn->connected;

	turn->connected = false;
	turn->timeline = 0;
	return had_worked;
}

void
turn_open(struct turn *turn, bool listens)
{
	turn->is_new = false;
	workspace_open(turn->session, listens);
	begin(turn, TURN_OPEN);
}

void
turn_report(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, bool output)
{
	if (output)
		runner->fresh = reports_add_output(reports, &runner->table);
	reports_carry_due(
	    reports, turn->number, &runner->reports, &turn->carried);
	turn->streamed =
	    reports_send(reports, turn->session, driver, &turn->carried, false);
	turn->reported = turn->carried.count > 0;
}

/* Carry the reports in `list` that go along with `request`. */
static void
carry_along(struct turn *turn, struct reports *reports,
    const struct request *request, const struct request_list *list)
{
	struct request *other, *next;

	for (other = list->first; other != NULL; other = next) {
		next = other->next;
		if (deferred_goes_along(request, other))
			reports_carry(
			    reports, turn->number, other, &turn->carried);
	}
}

void
turn_report_alone(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, struct request *request)
{
	reports_carry(reports, turn->number, request, &turn->carried);
	carry_along(turn, reports, request, &runner->deferred);
	carry_along(turn, reports, request, &runner->reports);
	turn->streamed =
	    reports_send(reports, turn->session, driver, &turn->carried, true);
	turn->reported = true;
	begin(turn, TURN_REPORT);
}

void
turn_poll(struct turn *turn, int64_t driver, struct load want, bool drain)
{
	turn->want = want;
	workspace_poll(turn->session, driver, &want);
	/* last, since poll tells best that the workspace gave us up */
	if (drain)
		workspace_drain(turn->session, driver);
	begin(turn, TURN_WORK);
}

bool
turn_answers(const struct turn *turn, const struct session_answer *answer,
    struct runner *runner, struct reports *reports)
{
	const struct pg_result *result = answer->results[turn->streamed];
	struct workspace_answer report;
	const struct request *request;
	int row;

	if (!turn->reported)
		return true;
	for (row = 0; row < pg_rows(result); row++) {
		report = workspace_answered(result, row);
		request = request_find(&runner->table, report.token);
		if (request != NULL && strcmp(report.answer, "busy") == 0)
			reports_hold(reports, request);
		runner_answer(runner, report.token, report.answer);
	}
	if (turn->carried.count > 0)
		LOG_IN(LOG_LEVEL_WARN, turn->label,
		    "%zu reports were not answered", turn->carried.count);
	return turn->carried.count == 0;
}

/*
 * Whether the query behind `count` others may be why the turn failed: the query
 * took too long, or the session did not survive it.
 */
static bool
may_have_failed(const struct session_answer *answer, int count)
{
	return answer->lost ||
	       (sqlstate_is(answer->err->sqlstate, SQLSTATE_CANCELLED) &&
	           answer->count == count);
}

bool
turn_blames_poll(const struct turn *turn, const struct session_answer *answer)
{
	return turn->kind == TURN_WORK &&
	       may_have_failed(answer, turn->streamed + turn->reported);
}

void
turn_blame(struct turn *turn, const struct session_answer *answer)
{
	struct request *request;

	/* else the output before them or the poll behind them failed */
	if (!may_have_failed(answer, turn->streamed))
		return;
	for (request = turn->carried.first; request != NULL;
	     request = request->next) {
		request->failures++;
		free(request->cause);
		request->cause = xstrdup(answer->err->message);
	}
}

void
turn_count(const struct turn *turn, struct metrics *metrics, bool failed)
{
	static const enum metric counted[] = {
		[TURN_NONE] = METRIC_COUNT,
		[TURN_OPEN] = METRIC_COUNT,
		[TURN_REGISTER] = METRIC_REGISTRATIONS,
		[TURN_WORK] = METRIC_POLLS,
		[TURN_REPORT] = METRIC_REPORTS_ALONE,
		[TURN_UPKEEP] = METRIC_UPKEEP,
		[TURN_HEARTBEAT] = METRIC_HEARTBEATS,
		[TURN_COUNTERS] = METRIC_COUNT,
		[TURN_LEAVE] = METRIC_COUNT,
	};

	if (failed)
		metrics_add(metrics, METRIC_TURNS_FAILED);
	else if (counted[turn->kind] != METRIC_COUNT)
		metrics_add(metrics, counted[turn->kind]);
}

void
turn_end(struct turn *turn, struct runner *runner)
{
	struct request *request, *next;

	for (request = turn->carried.first; request != NULL; request = next) {
		next = request->next;
		if (request_failures_alone(request) < 0)
			continue;
		request_list_remove(request);
		request_list_add(&runner->deferred, request);
	}
	request_list_put_back(&runner->reports, &turn->carried);
	request_list_put_back(&runner->reports, &turn->behind);
	turn->want = (struct load){ 0 };
	turn->kind = TURN_NONE;
}

static void
set_mark(struct turn *turn, const char *mark)
{
	free(turn->mark);
	turn->mark = mark != NULL ? xstrdup(mark) : NULL;
}

static void
take(struct runner *runner, const struct workspace_row *row, struct load *taken)
{
	if (runner_take(runner, row)) {
		taken->slots++;
	} else {
		taken->instant++;
		taken->bytes += (int64_t)row->args_len;
	}
}

struct rest
turn_requests(struct turn *turn, const struct session_answer *answer,
    struct runner *runner, struct load *taken)
{
	const struct pg_result *result =
	    answer->results[turn->streamed + turn->reported];
	struct workspace_row row;
	struct rest rest = { 0 };
	int i;

	*taken = (struct load){ 0 };
	for (i = 0; i < pg_rows(result); i++) {
		row = workspace_polled(result, i);
		switch (row.kind) {
		case WORKSPACE_RUN:
			take(runner, &row, taken);
			break;
		case WORKSPACE_STOP:
			runner_stop(runner, row.token);
			break;
		case WORKSPACE_WORK:
			rest.work++;
			break;
		case WORKSPACE_NEXT:
		case WORKSPACE_BUSY:
			rest.ms = row.wait_ms;
			rest.busy = row.kind == WORKSPACE_BUSY;
			if (row.mark != NULL)
				set_mark(turn, row.mark);
			break;
		}
	}
	return rest;
}

void
turn_upkeep(struct turn *turn, int64_t item, bool failed)
{
	workspace_work(turn->session, item, failed);
	begin(turn, TURN_UPKEEP);
}

void
turn_upkeep_done(struct turn *turn, const struct session_answer *answer)
{
	turn->item = workspace_worked(answer->results[0]);
}

int64_t
turn_take_item(struct turn *turn)
{
	int64_t item = turn->item;

	turn->item = 0;
	return item;
}

void
turn_heartbeat(struct turn *turn, int64_t driver)
{
	workspace_heartbeat(turn->session, driver);
	begin(turn, TURN_HEARTBEAT);
}

void
turn_counters(struct turn *turn, int64_t driver, struct metrics *metrics)
{
	struct buf json;

	buf_init(&json, 0);
	metrics_write(metrics, &json);
	workspace_counters_set(turn->session, driver, json.data);
	buf_release(&json);
	begin(turn, TURN_COUNTERS);
}

void
turn_leave(struct turn *turn, int64_t driver)
{
	workspace_leave(turn->session, driver);
	begin(turn, TURN_LEAVE);
}

void
turns_open(struct turns *turns, size_t count, struct loop *loop,
    const struct session_options *options, const struct session_events *events,
    void *owner)
{
	struct turn *turn;
	size_t i;

	turns->count = count;
	turns->all = xcalloc(count, sizeof(turns->all[0]));
	for (i = 0; i < count; i++) {
		turn = &turns->all[i];
		turn->number = (int)i + 1;
		turn->owner = owner;
		turn->label = options->label;
		request_list_init(&turn->carried);
		turn->carried.on_its_way = true;
		request_list_init(&turn->behind);
		turn->session = session_new(loop, options, events, turn);
	}
}

void
turns_close(struct turns *turns)
{
	while (turns->count > 0) {
		session_free(turns->all[--turns->count].session);
		free(turns->all[turns->count].mark);
	}
	free(turns->all);
}

void
turns_register(const struct turns *turns, struct turn *turn,
    struct identity *identity, const struct request_table *table)
{
	struct pg_array marks;
	size_t i;

	pg_array_init(&marks, PG_TYPE_TEXT);
	for (i = 0; i < turns->count; i++)
		if (turns->all[i].mark != NULL)
			pg_array_add_text(&marks, turns->all[i].mark);
	identity_register(identity, turn->session, table, &marks);
	pg_array_release(&marks);
	begin(turn, TURN_REGISTER);
}

void
turns_gather(const struct turns *turns, struct turn *turn,
    const struct session_answer *answer)
{
	struct turn *other, *behind;
	size_t i;

	turn->timeline = workspace_opened(answer);
	for (i = 0; i < turns->count; i++) {
		other = &turns->all[i];
		if (other->timeline == turn->timeline || other->timeline == 0 ||
		    turn->timeline == 0)
			continue;
		behind = other->timeline < turn->timeline ? other : turn;
		behind->timeline = 0;
		session_avoid(behind->session, "it is a former primary");
	}
}

void
turns_sort(const struct turns *turns, const struct turn *turn,
    const struct reports *reports, struct request_list *due)
{
	struct request *request, *next;
	int number;

	for (request = due->first; request != NULL; request = next) {
		next = request->next;
		number = reports_carrier(reports, request);
		if (number == 0 || number == turn->number)
			continue;
		request_list_remove(request);
		request_list_add(&turns->all[number - 1].behind, request);
	}
}

size_t
turns_waiting(const struct turns *turns, const struct request_list *due)
{
	size_t i, bytes = due->bytes;

	for (i = 0; i < turns->count; i++)
		bytes += turns->all[i].behind.bytes;
	return bytes;
}

void
turns_drop_marks(struct turns *turns)
{
	size_t i;

	for (i = 0; i < turns->count; i++)
		set_mark(&turns->all[i], NULL);
}

struct turn *
turns_naming(const struct turns *turns, struct turn *turn)
{
	size_t i;

	if (turn->item != 0)
		return turn;
	for (i = 0; i < turns->count; i++)
		if (turns->all[i].item != 0)
			return &turns->all[i];
	return NULL;
}

struct turn *
turns_ready(const struct turns *turns)
{
	size_t i;

	for (i = 0; i < turns->count; i++)
		if (session_is_ready(turns->all[i].session))
			return &turns->all[i];
	return NULL;
}

bool
turns_connected(const struct turns *turns)
{
	size_t i;

	for (i = 0; i < turns->count; i++)
		if (turns->all[i].connected)
			return true;
	return false;
}

bool
turns_under_way(const struct turns *turns)
{
	size_t i;

	for (i = 0; i < turns->count; i++)
		if (turns->all[i].kind != TURN_NONE)
			return true;
	return false;
}

bool
turns_do(const struct turns *turns, enum turn_kind kind)
{
	size_t i;

	for (i = 0; i < turns->count; i++)
		if (turns->all[i].kind == kind)
			return true;
	return false;
}

bool
turns_listens(const struct turns *turns, const struct turn *turn)
{
	return turn == &turns->all[0];
}

bool
turns_takes_long_ones(const struct turns *turns, const struct turn *turn)
{
	const struct turn *other;
	size_t i;

	if (!turns_listens(turns, turn))
		return true;
	for (i = 0; i < turns->count; i++) {
		other = &turns->all[i];
		if (other != turn && other->connected &&
		    other->kind != TURN_REPORT && other->kind != TURN_UPKEEP)
			return false;
	}
	return true;
}

void
turn_log_failure(const struct turn *turn, const struct error *err)
{
	const char *hint = workspace_advice(err->sqlstate);

	if (turn->kind == TURN_OPEN) {
		LOG_IN(LOG_LEVEL_DEBUG, turn->label, "no doorbell: %s",
		    err->message);
		return;
	}
	if (hint == NULL)
		hint = err->hint;
	LOG_IN(LOG_LEVEL_WARN, turn->label, "%s failed: %s [%s]%s%s",
	    names[turn->kind], err->message, err->sqlstate,
	    hint != NULL ? " hint: " : "", hint != NULL ? hint : "");
}

void
turn_log_down(const struct turn *turn, const struct error *err, int attempts)
{
	if (attempts == 0)
		LOG_IN(LOG_LEVEL_WARN, turn->label,
		    "no connection to the workspace, trying on: %s%s%s",
		    err->message, err->hint ? " hint: " : "",
		    err->hint ? err->hint : "");
	else
		LOG_IN(LOG_LEVEL_DEBUG, turn->label, "attempt %d: %s", attempts,
		    err->message);
}
