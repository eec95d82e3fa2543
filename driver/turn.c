#include "driver/turn.h"

#include "common/error.h"
#include "common/log.h"
#include "driver/identity.h"
#include "driver/reports.h"
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
