#include "driver/sql_run.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/session.h"
#include "driver/sql_batch.h"
#include "driver/sql_failure.h"
#include "driver/transport.h"

enum {
	REPEATS = 3,       /* of a statement that lost its connection */
	GRACE_MS = 5000,   /* for the server to keep its own time limit */
	STATUS_MS = 30000, /* for the answer to a status */
};

/* Steps ----------------------------------------------------------------- */

static void
step_statement(struct run *run)
{
	run->phase = SQL_STATEMENT;
	sql_batch_statement(
	    run->session, run->task, &run->statement, run->timeout_ms);
	if (run->timeout_ms > 0)
		loop_timer_set(
		    run->loop, &run->limit_timer, run->timeout_ms + GRACE_MS);
}

static void
step_commit(struct run *run)
{
	run->phase = SQL_COMMIT;
	sql_batch_commit(run->session, run->task, &run->outcome.body);
}

static void
step_rollback(struct run *run)
{
	run->phase = SQL_ROLLBACK;
	sql_batch_rollback(run->session);
}

static void
step_status(struct run *run)
{
	run->phase = SQL_STATUS;
	sql_batch_status(run->session, run->task);
	loop_timer_set(run->loop, &run->status_timer, STATUS_MS);
}

/* The end of a run --------------------------------------------------------- */

static void
finish(struct run *run)
{
	loop_timer_stop(run->loop, &run->limit_timer);
	run->over(run);
}

/* The workspace has the outcome, or the task is no longer ours. */
static void
finish_recorded(struct run *run)
{
	outcome_release(&run->outcome);
	run->outcome.event = OUTCOME_RECORDED;
	finish(run);
}

static void
set_stopped(struct run *run)
{
	sql_failure_stopped(&run->outcome, run->stopped, run->timeout_ms);
}

static void
set_failed(struct run *run, const struct error *err)
{
	if (strcmp(err->sqlstate, "57014") == 0 && run->stopped == NULL &&
	    run->timeout_ms > 0)
		run->stopped = "timeout";
	if (run->stopped != NULL)
		set_stopped(run);
	else
		sql_failure_refused(&run->outcome, err);
}

/* Answers ------------------------------------------------------------------ */

/*
 * Whether the next server is asked what has become of it.  A request that this
 * one does not know was taken back; or it is a former primary that still
 * lives.  If the next one does not know it, either, that is reported: the
 * workspace refuses what is no longer ours.
 */
static bool
goes_elsewhere(struct run *run, const struct session_answer *answer)
{
	if (sql_batch_is_misplaced(answer)) {
		session_reset(run->session, "to ask again");
	} else if (sql_batch_is_unknown(answer) && !run->unknown) {
		run->unknown = true;
		session_avoid(run->session, "it does not know a request");
	} else {
		return false;
	}
	run->phase = SQL_STATUS;
	return true;
}

static void
end_statement(struct run *run, const struct session_answer *answer)
{
	if (goes_elsewhere(run, answer))
		return;
	if (answer->err != NULL)
		set_failed(run, answer->err);
	else if (run->stopped != NULL)
		set_stopped(run);
	else
		sql_statement_respond(&run->statement,
		    answer->results[answer->count - 1], &run->outcome.body);
	if (run->outcome.event == OUTCOME_RESPONSE)
		step_commit(run);
	else
		step_rollback(run);
}

static void
end_commit(struct run *run, const struct session_answer *answer)
{
	if (sql_batch_committed(answer)) {
		finish_recorded(run);
		return;
	}
	set_failed(run, answer->err);
	step_rollback(run);
}

static void
end_status(struct run *run, const struct session_answer *answer)
{
	if (goes_elsewhere(run, answer))
		return;
	outcome_release(&run->outcome);
	outcome_init(&run->outcome);
	if (sql_batch_is_unknown(answer)) {
		outcome_error(&run->outcome, "sql", NULL,
		    "the workspace that sql_connection leads to does not "
		    "know this request");
		finish(run);
	} else if (!sql_batch_is_open(answer)) {
		finish_recorded(run);
	} else if (run->stopped != NULL) {
		set_stopped(run);
		finish(run);
	} else if (run->repeats > REPEATS) {
		outcome_error(&run->outcome, "sql", NULL,
		    "the connection was lost %d times: %s", run->repeats,
		    run->lost);
		finish(run);
	} else {
		step_statement(run);
	}
}

/* Nothing was left to do, or it goes on when the session is ready again. */
static void
lose(struct run *run, const struct error *err)
{
	/* the statement wanted what a session of ours can't do: COPY */
	if (run->phase == SQL_STATEMENT &&
	    strcmp(err->sqlstate, "0A000") == 0) {
		set_failed(run, err);
		run->phase = SQL_ROLLBACK;
	}
	if (run->phase == SQL_ROLLBACK) {
		finish(run);
		return;
	}
	/* it may be the statement that breaks connections */
	if (run->phase == SQL_STATEMENT)
		run->repeats++;
	run->phase = SQL_STATUS;
	free(run->lost);
	run->lost = xstrdup(err->message);
}

void
sql_run_answer(struct run *run, const struct session_answer *answer)
{
	loop_timer_stop(run->loop, &run->status_timer);
	if (answer->lost)
		lose(run, answer->err);
	else if (run->phase == SQL_STATEMENT)
		end_statement(run, answer);
	else if (run->phase == SQL_COMMIT)
		end_commit(run, answer);
	else if (run->phase == SQL_ROLLBACK)
		finish(run);
	else
		end_status(run, answer);
}

void
sql_run_begin(struct run *run, struct session *session)
{
	run->session = session;
	step_statement(run);
}

void
sql_run_resume(struct run *run)
{
	step_status(run);
}

/* Stopping ----------------------------------------------------------------- */

/*
 * A statement that nobody waits for any more ends.  What a cancel does to a
 * commit is another thing: that goes on without the standby it waits for.
 */
static void
give_up(struct run *run, const char *reason)
{
	if (run->phase == SQL_STATEMENT)
		session_cancel(run->session);
	session_reset(run->session, reason);
}

/*
 * The time of the task is over, and the server did not say so.  While the
 * session dials there is nothing to give up: the status comes first then.
 */
static void
on_limit(void *arg)
{
	struct run *run = arg;

	run->stopped = "timeout";
	give_up(run, "no answer within the time limit of a SQL task");
}

static void
on_no_status(void *arg)
{
	struct run *run = arg;

	session_reset(run->session, "no answer about the state of a SQL task");
}

void
sql_run_abandon(struct run *run)
{
	give_up(run, "the SQL task was abandoned");
}

void
sql_run_stop(struct run *run)
{
	run->stopped = "cancelled";
	if (run->phase == SQL_WAITING)
		set_stopped(run);
	else if (run->phase == SQL_STATEMENT)
		session_cancel(run->session);
}

/* Life --------------------------------------------------------------------- */

struct run *
sql_run_new(struct loop *loop, const struct config *config,
    const struct task *task, struct error *err)
{
	struct run *run = xcalloc(1, sizeof(*run));

	run->loop = loop;
	run->config = config;
	run->task = task;
	run->timeout_ms =
	    task->timeout_ms > 0 ? task->timeout_ms : config->sql_timeout_ms;
	run->limit_timer.fn = on_limit;
	run->limit_timer.arg = run;
	run->status_timer.fn = on_no_status;
	run->status_timer.arg = run;
	outcome_init(&run->outcome);
	if (json_parse(task->args, task->args_len, &run->args, err) &&
	    sql_statement_init(
	        &run->statement, run->args, config->sql_max_rows_bytes, err))
		return run;
	sql_run_free(run);
	return NULL;
}

void
sql_run_free(struct run *run)
{
	loop_timer_stop(run->loop, &run->limit_timer);
	loop_timer_stop(run->loop, &run->status_timer);
	sql_statement_release(&run->statement);
	outcome_release(&run->outcome);
	json_free(run->args);
	free(run->lost);
	free(run);
}
