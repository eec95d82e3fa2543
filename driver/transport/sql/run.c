#include "driver/transport/sql/run.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/sqlstate.h"
#include "driver/config/config.h"
#include "driver/secret/redact.h"
#include "driver/transport/sql/batch.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"
#include "runtime/session.h"

enum {
	REPEATS = 3,       /* after a statement lost its connection */
	GRACE_MS = 5000,   /* for the server to keep its own time limit */
	STATUS_MS = 30000, /* for the answer to a status */
	TEXT_BYTES = 4096, /* of each text of an error in the outcome */
};

/* Steps ----------------------------------------------------------------- */

/*
 * The lower of the limits of the task and the statement; else the configured
 * one.
 */
static int64_t
find_limit(const struct run *run)
{
	int64_t whole = run->task->timeout_ms;
	int64_t own = run->statements[run->at].timeout_ms;

	if (own <= 0 && whole <= 0)
		return run->config->sql_timeout_ms;
	return own > 0 && (whole <= 0 || own < whole) ? own : whole;
}

static void
step_statement(struct run *run)
{
	const struct sql_statement *statement = &run->statements[run->at];

	run->phase = SQL_STATEMENT;
	run->limit_ms = find_limit(run);
	if (run->at == 0)
		sql_batch_first(
		    run->session, run->task, statement, run->limit_ms);
	else
		sql_batch_next(run->session, statement, run->limit_ms);
	if (run->limit_ms > 0)
		loop_timer_set(
		    run->loop, &run->limit_timer, run->limit_ms + GRACE_MS);
	else
		loop_timer_stop(run->loop, &run->limit_timer);
}

static void
step_first(struct run *run)
{
	run->at = 0;
	run->row_bytes = 0;
	buf_truncate(&run->outcome.body, 0);
	step_statement(run);
}

static void
step_next(struct run *run)
{
	int64_t limit = run->config->sql_max_rows_bytes;

	run->at++;
	sql_statement_limit(
	    &run->statements[run->at], limit - (int64_t)run->row_bytes, limit);
	step_statement(run);
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

/*
 * A batch that resets its session has ended.  If anything failed, it was the
 * reset.  Then the next task must not find what this task left there, such as a
 * role.
 */
static void
check_reset(struct run *run, const struct session_answer *answer)
{
	if (answer->err != NULL)
		session_reset(run->session, answer->err->message);
}

/* The workspace has the outcome, or the task is no longer ours. */
static void
finish_recorded(struct run *run)
{
	outcome_release(&run->outcome);
	run->outcome.event = OUTCOME_RECORDED;
	finish(run);
}

/* Failures ----------------------------------------------------------------- */

/* Whether a failure is about one statement of an atomic, not about its end. */
static bool
is_about_member(const struct run *run)
{
	return run->is_atomic && run->phase == SQL_STATEMENT;
}

/* The beginning of a message, for the caller to free(). */
static char *
place_text(const struct run *run)
{
	if (!is_about_member(run))
		return xstrdup("");
	return xasprintf("statement %zu of %zu (line %d): ", run->at + 1,
	    run->count, run->statements[run->at].line);
}

static void
set_stopped(struct run *run)
{
	char *where = place_text(run);

	if (strcmp(run->stopped, "timeout") == 0)
		outcome_error(&run->outcome, "timeout", NULL,
		    "%sthe statement did not end within %lld ms", where,
		    (long long)run->limit_ms);
	else
		outcome_error(&run->outcome, "cancelled", NULL,
		    "%sthe statement was cancelled", where);
	free(where);
}

/*
 * The beginning of the server's text, which may quote a value of any size; NULL
 * stays NULL.  Secrets go before the cut, so that no half of a secret is left.
 */
static char *
beginning(const char *text)
{
	struct buf buf;

	if (text == NULL)
		return NULL;
	buf_init(&buf, 0);
	buf_adds(&buf, text);
	redact_text(&buf);
	buf_truncate(&buf, TEXT_BYTES);
	return buf_take(&buf);
}

/*
 * If the workspace has judged the task, take the error from the detail.  False:
 * it has not.
 */
static bool
judged(struct outcome *outcome, const char *where, const struct error *err)
{
	struct json *record = NULL;
	struct error invalid = { 0 };
	bool is_record;

	if (!sqlstate_is(err->sqlstate, SQLSTATE_TASK_FAILED) ||
	    err->detail == NULL)
		return false;
	is_record =
	    json_parse(err->detail, strlen(err->detail), &record, &invalid) &&
	    json_type(record) == JSON_OBJECT;
	if (is_record && *where != '\0') {
		outcome_error(outcome, json_string(json_get(record, "kind")),
		    NULL, "%s%s", where, err->message);
	} else if (is_record) {
		outcome->event = OUTCOME_ERROR;
		buf_truncate(&outcome->body, 0);
		buf_adds(&outcome->body, err->detail);
	}
	json_free(record);
	error_release(&invalid);
	return is_record;
}

/* The database refused the statement. */
static void
set_refused(struct run *run, const struct error *err)
{
	char *message = beginning(err->message), *text = beginning(err->detail),
	     *hint = beginning(err->hint), *where = place_text(run);
	struct buf detail;

	if (!judged(&run->outcome, where, err)) {
		buf_init(&detail, 0);
		buf_addc(&detail, '{');
		outcome_add_member(&detail, "sqlstate", err->sqlstate);
		outcome_add_member(&detail, "detail", text);
		outcome_add_member(&detail, "hint", hint);
		if (is_about_member(run))
			buf_addf(&detail, ",\"statement\":%zu,\"line\":%d",
			    run->at + 1, run->statements[run->at].line);
		buf_addc(&detail, '}');
		outcome_error(
		    &run->outcome, "sql", detail.data, "%s%s", where, message);
		buf_release(&detail);
	}
	free(message);
	free(text);
	free(hint);
	free(where);
}

static void
set_failed(struct run *run, const struct error *err)
{
	if (sqlstate_is(err->sqlstate, SQLSTATE_CANCELLED) &&
	    run->stopped == NULL && run->limit_ms > 0)
		run->stopped = "timeout";
	if (run->stopped != NULL)
		set_stopped(run);
	else
		set_refused(run, err);
}

/* Answers ------------------------------------------------------------------ */

/*
 * Whether the run asks the next server for the state of its request.  If this
 * server does not know the request, the workspace has taken it back, or the
 * server is a former primary that still lives.  If the next server does not
 * know it either, the run reports that: the workspace refuses reports of
 * requests that it has taken back.
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

/* {"rows", "count"}; of an atomic {"results": [{"rows", "count"}, …]} */
static void
respond(struct run *run, const struct pg_result *result)
{
	struct buf *body = &run->outcome.body;

	if (run->is_atomic)
		buf_adds(body, run->at == 0 ? "{\"results\":[" : ",");
	run->row_bytes +=
	    sql_statement_respond(&run->statements[run->at], result, body);
	if (run->is_atomic && run->at + 1 == run->count)
		buf_adds(body, "]}");
}

static void
end_statement(struct run *run, const struct session_answer *answer)
{
	if (run->at == 0 && goes_elsewhere(run, answer))
		return;
	if (answer->err != NULL)
		set_failed(run, answer->err);
	else if (run->stopped != NULL)
		set_stopped(run);
	else
		respond(run, answer->results[answer->count - 1]);
	if (run->outcome.event != OUTCOME_RESPONSE)
		step_rollback(run);
	else if (run->at + 1 < run->count)
		step_next(run);
	else
		step_commit(run);
}

static void
end_commit(struct run *run, const struct session_answer *answer)
{
	if (sql_batch_committed(answer)) {
		check_reset(run, answer);
		finish_recorded(run);
		return;
	}
	set_failed(run, answer->err);
	step_rollback(run);
}

static void
end_rollback(struct run *run, const struct session_answer *answer)
{
	check_reset(run, answer);
	finish(run);
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
		step_first(run);
	}
}

/*
 * End the run if only a rollback was left.  Otherwise it goes on when the
 * session is ready again.
 */
static void
lose(struct run *run, const struct error *err)
{
	/* the statement was one that our sessions can't do: COPY */
	if (run->phase == SQL_STATEMENT &&
	    sqlstate_is(err->sqlstate, SQLSTATE_NOT_SUPPORTED)) {
		set_failed(run, err);
		run->phase = SQL_ROLLBACK;
	}
	if (run->phase == SQL_ROLLBACK) {
		finish(run);
		return;
	}
	/* perhaps the statement breaks connections */
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
		end_rollback(run, answer);
	else
		end_status(run, answer);
}

void
sql_run_begin(struct run *run, struct session *session)
{
	run->session = session;
	step_first(run);
}

void
sql_run_resume(struct run *run)
{
	step_status(run);
}

/* Stopping ----------------------------------------------------------------- */

/*
 * Give the session up.  A statement that nobody waits for is cancelled.  A
 * commit is not: a cancelled commit goes on without the standby that it waits
 * for.
 */
static void
give_up(struct run *run, const char *reason)
{
	if (run->phase == SQL_STATEMENT)
		session_cancel(run->session);
	session_reset(run->session, reason);
}

/*
 * The time of the task is over, but the server did not end the statement.
 * While the session dials there is nothing to give up: then the status comes
 * first.
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

/*
 * No statement of an atomic may end the transaction before the others are done.
 */
static bool
check_member(const struct run *run, struct error *err)
{
	const struct sql_statement *statement = &run->statements[run->at];

	if (!sql_statement_is_control(statement))
		return true;
	error_set(err,
	    "statement %zu of %zu (line %d) begins or ends a transaction; "
	    "an atomic is one transaction",
	    run->at + 1, run->count, statement->line);
	return false;
}

/* {"statement", …}, or {"statements": [{"statement", …}, …]} */
static bool
read_statements(struct run *run, struct error *err)
{
	const struct json *list = json_get(run->args, "statements");
	int64_t limit = run->config->sql_max_rows_bytes;

	run->is_atomic = list != NULL;
	run->count = run->is_atomic ? json_length(list) : 1;
	if (run->count == 0 ||
	    (run->is_atomic && json_type(list) != JSON_LIST)) {
		run->count = 0;
		error_set(err, "statements must be a list of at least one");
		return false;
	}
	run->statements = xcalloc(run->count, sizeof(run->statements[0]));
	for (run->at = 0; run->at < run->count; run->at++)
		if (!sql_statement_init(&run->statements[run->at],
		        run->is_atomic ? json_at(list, run->at) : run->args,
		        limit, err) ||
		    (run->is_atomic && !check_member(run, err)))
			return false;
	return true;
}

struct run *
sql_run_new(struct loop *loop, const struct config *config,
    const struct task *task, struct error *err)
{
	struct run *run = xcalloc(1, sizeof(*run));

	run->loop = loop;
	run->config = config;
	run->task = task;
	run->limit_timer.fn = on_limit;
	run->limit_timer.arg = run;
	run->status_timer.fn = on_no_status;
	run->status_timer.arg = run;
	outcome_init(&run->outcome);
	if (json_parse(task->args, task->args_len, &run->args, err) &&
	    read_statements(run, err))
		return run;
	sql_run_free(run);
	return NULL;
}

void
sql_run_free(struct run *run)
{
	loop_timer_stop(run->loop, &run->limit_timer);
	loop_timer_stop(run->loop, &run->status_timer);
	while (run->count > 0)
		sql_statement_release(&run->statements[--run->count]);
	free(run->statements);
	outcome_release(&run->outcome);
	json_free(run->args);
	free(run->lost);
	free(run);
}
