#include "driver/turn.h"

#include "common/error.h"
#include "common/log.h"
#include "common/pg.h"
#include "driver/identity.h"
#include "driver/reports.h"
#include "driver/runner.h"
#include "driver/session.h"
#include "driver/workspace.h"

static const char *const names[] = {
	[TURN_NONE] = "nothing",
	[TURN_LISTEN] = "listen",
	[TURN_REGISTER] = "register",
	[TURN_WORK] = "turn",
	[TURN_HEARTBEAT] = "heartbeat",
	[TURN_LEAVE] = "leave",
};

static void
begin(struct turn *turn, enum turn_kind kind)
{
	turn->kind = kind;
	session_go(turn->session);
}

void
turn_listen(struct turn *turn)
{
	turn->must_listen = false;
	workspace_listen(turn->session);
	begin(turn, TURN_LISTEN);
}

void
turn_register(struct turn *turn, const struct identity *identity,
    int64_t previous, const struct request_table *table)
{
	identity_register(identity, turn->session, previous, table);
	begin(turn, TURN_REGISTER);
}

void
turn_work(struct turn *turn, const struct turn_work *work)
{
	reports_send(work->reports, turn->session, work->driver, work->due,
	    &turn->carried);
	turn->reported = turn->carried.count > 0;
	turn->want = work->want;
	workspace_poll(turn->session, work->driver, work->want);
	/* last: poll says it better if the workspace has given us up */
	if (work->drain)
		workspace_drain(turn->session, work->driver);
	begin(turn, TURN_WORK);
}

bool
turn_answers(const struct turn *turn, const struct pg_result *result,
    struct runner *runner)
{
	struct workspace_answer answer;
	int row;

	for (row = 0; row < pg_rows(result); row++) {
		answer = workspace_answered(result, row);
		runner_answer(runner, answer.token, answer.answer);
	}
	if (turn->carried.count > 0)
		log_warnx("%zu reports were not answered", turn->carried.count);
	return turn->carried.count == 0;
}

int64_t
turn_requests(
    const struct pg_result *result, struct runner *runner, int64_t *wait_ms)
{
	struct workspace_row row;
	int64_t taken = 0;
	int i;

	*wait_ms = 0;
	for (i = 0; i < pg_rows(result); i++) {
		row = workspace_polled(result, i);
		switch (row.kind) {
		case WORKSPACE_RUN:
			runner_take(runner, &row);
			taken++;
			break;
		case WORKSPACE_STOP:
			runner_stop(runner, row.token);
			break;
		case WORKSPACE_NEXT:
			*wait_ms = row.wait_ms;
			break;
		}
	}
	return taken;
}

void
turn_heartbeat(struct turn *turn, int64_t driver)
{
	workspace_heartbeat(turn->session, driver);
	begin(turn, TURN_HEARTBEAT);
}

void
turn_leave(struct turn *turn, int64_t driver)
{
	workspace_leave(turn->session, driver);
	begin(turn, TURN_LEAVE);
}

bool
turns_connected(const struct turn *turns, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (turns[i].connected)
			return true;
	return false;
}

bool
turns_under_way(const struct turn *turns, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (turns[i].kind != TURN_NONE)
			return true;
	return false;
}

void
turn_log_failure(const struct turn *turn, const struct error *err)
{
	const char *hint = err->hint;

	if (hint == NULL)
		hint = workspace_advice(err->sqlstate);
	log_warnx("%s failed: %s [%s]%s%s", names[turn->kind], err->message,
	    err->sqlstate, hint != NULL ? " hint: " : "",
	    hint != NULL ? hint : "");
}
