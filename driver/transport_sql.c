/*
 * transport_sql.c - SQL tasks: the statement and its outcome are one
 * transaction, so that both happened or neither.
 *
 * The sessions log in as the role that the tasks run as.  The workspace has
 * the outcome of a task that succeeded; only failures are reported.
 *
 *     WAITING ▶ STATEMENT ▶ COMMIT ▶ OVER
 *                   └──▶ ROLLBACK ◀─┘ └─▶ OVER
 *     a lost connection ▶ STATUS ▶ OVER, or STATEMENT once more
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/outcome.h"
#include "driver/session.h"
#include "driver/sql_batch.h"
#include "driver/sql_failure.h"
#include "driver/sql_statement.h"
#include "driver/transport.h"

enum {
	PATIENCE = 5,    /* failed connections before tasks fail too */
	REPEATS = 3,     /* of a statement that lost its connection */
	GRACE_MS = 5000, /* for the server to keep its own time limit */
};

enum phase {
	PHASE_WAITING, /* for a session */
	PHASE_STATEMENT,
	PHASE_COMMIT,
	PHASE_ROLLBACK,
	PHASE_STATUS,
	PHASE_OVER,
};

/* A session and the task that it is at. */
struct worker {
	struct sql *sql;
	struct session *session;
	struct run *run; /* NULL: none */
};

/* The sessions of one workspace. */
struct sql {
	struct loop *loop;
	const struct config *config;
	const struct config_workspace *workspace; /* NULL: of all of them */
	struct worker *workers;
	size_t count;             /* of those that were needed so far */
	struct run *first, **end; /* that wait */
};

struct run {
	struct sql *sql;
	const struct task *task;
	transport_done_fn *done;
	void *arg;
	struct json *args;
	struct sql_statement statement;
	struct worker *worker; /* NULL while waiting */
	struct run *next;
	enum phase phase;
	struct outcome outcome;
	int repeats;
	char *lost;          /* why the connection was lost; NULL: it wasn't */
	int64_t timeout_ms;  /* 0: none */
	const char *stopped; /* "timeout" or "cancelled"; NULL: nobody did */
	struct timer limit_timer;
	struct loop_call end_call;
};

/* Steps ----------------------------------------------------------------- */

static void
step_statement(struct run *run)
{
	run->phase = PHASE_STATEMENT;
	sql_batch_statement(
	    run->worker->session, run->task, &run->statement, run->timeout_ms);
	if (run->timeout_ms > 0)
		loop_timer_set(run->sql->loop, &run->limit_timer,
		    run->timeout_ms + GRACE_MS);
}

static void
step_commit(struct run *run)
{
	run->phase = PHASE_COMMIT;
	sql_batch_commit(run->worker->session, run->task, &run->outcome.body);
}

static void
step_rollback(struct run *run)
{
	run->phase = PHASE_ROLLBACK;
	sql_batch_rollback(run->worker->session);
}

static void
step_status(struct run *run)
{
	run->phase = PHASE_STATUS;
	sql_batch_status(run->worker->session, run->task);
}

/* The end of a run --------------------------------------------------------- */

static void serve(struct sql *sql);

static void
finish(void *arg)
{
	struct run *run = arg;
	struct sql *sql = run->sql;
	struct outcome outcome = run->outcome;

	outcome_init(&run->outcome);
	run->phase = PHASE_OVER;
	loop_timer_stop(sql->loop, &run->limit_timer);
	if (run->worker != NULL)
		run->worker->run = NULL;
	run->worker = NULL;
	run->done(run->arg, &outcome);
	serve(sql);
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
	if (strcmp(err->sqlstate, "WF009") == 0) { /* no longer ours */
		run->outcome.event = OUTCOME_RECORDED;
		return;
	}
	if (strcmp(err->sqlstate, "57014") == 0 && run->stopped == NULL &&
	    run->timeout_ms > 0)
		run->stopped = "timeout";
	if (run->stopped != NULL)
		set_stopped(run);
	else
		sql_failure_refused(&run->outcome, err);
}

/* Answers ------------------------------------------------------------------ */

static void
end_statement(struct run *run, const struct session_answer *answer)
{
	size_t limit = (size_t)run->sql->config->sql_max_rows_bytes;

	if (answer->err != NULL && strcmp(answer->err->sqlstate, "WF013") == 0)
		run->phase = PHASE_STATUS;
	else if (answer->err != NULL)
		set_failed(run, answer->err);
	else if (run->stopped != NULL)
		set_stopped(run);
	else if (!sql_statement_respond(&run->statement,
	             answer->results[answer->count - 1], limit,
	             &run->outcome.body))
		outcome_error(&run->outcome, "output", NULL,
		    "the statement's rows take more than %zu bytes", limit);
	if (run->phase == PHASE_STATUS)
		session_reset(run->worker->session, "workspace upgraded");
	else if (run->outcome.event == OUTCOME_RESPONSE)
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
	outcome_release(&run->outcome);
	outcome_init(&run->outcome);
	if (!sql_batch_is_open(answer)) {
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
	if (run->phase == PHASE_STATEMENT &&
	    strcmp(err->sqlstate, "0A000") == 0) {
		set_failed(run, err);
		run->phase = PHASE_ROLLBACK;
	}
	if (run->phase == PHASE_ROLLBACK) {
		finish(run);
		return;
	}
	/* it may be the statement that breaks connections */
	if (run->phase == PHASE_STATEMENT)
		run->repeats++;
	run->phase = PHASE_STATUS;
	free(run->lost);
	run->lost = xstrdup(err->message);
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	struct worker *worker = arg;
	struct run *run = worker->run;

	if (run == NULL) {
		serve(worker->sql);
	} else if (answer->lost) {
		lose(run, answer->err);
	} else if (run->phase == PHASE_STATEMENT) {
		end_statement(run, answer);
	} else if (run->phase == PHASE_COMMIT) {
		end_commit(run, answer);
	} else if (run->phase == PHASE_ROLLBACK) {
		finish(run);
	} else {
		end_status(run, answer);
	}
}

/* Sessions ----------------------------------------------------------------- */

static void
on_ready(void *arg)
{
	struct worker *worker = arg;

	if (worker->run != NULL)
		step_status(worker->run);
	else
		serve(worker->sql);
}

static struct run *
take_waiting(struct sql *sql)
{
	struct run *run = sql->first;

	if (run == NULL)
		return NULL;
	sql->first = run->next;
	if (sql->first == NULL)
		sql->end = &sql->first;
	return run;
}

static bool
any_ready_or_busy(const struct sql *sql)
{
	size_t i;

	for (i = 0; i < sql->count; i++)
		if (sql->workers[i].run != NULL ||
		    session_is_ready(sql->workers[i].session))
			return true;
	return false;
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	struct worker *worker = arg;
	struct sql *sql = worker->sql;
	struct run *run;

	if (failures < PATIENCE || any_ready_or_busy(sql))
		return;
	while ((run = take_waiting(sql)) != NULL) {
		outcome_error(&run->outcome, "sql", NULL,
		    "no connection for SQL tasks: %s", err->message);
		loop_later(sql->loop, &run->end_call);
	}
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
};

static void
add_worker(struct sql *sql)
{
	struct worker *worker = &sql->workers[sql->count++];
	struct session_options options = {
		.conninfo = sql->workspace->sql_connection,
		.program = "wf-driver sql",
	};

	worker->sql = sql;
	worker->session = session_new(sql->loop, &options, &events, worker);
}

/* Give waiting tasks to sessions that are free; or get one more session. */
static void
serve(struct sql *sql)
{
	struct worker *worker;
	size_t i;

	for (i = 0; i < sql->count && sql->first != NULL; i++) {
		worker = &sql->workers[i];
		if (worker->run != NULL || !session_is_ready(worker->session))
			continue;
		worker->run = take_waiting(sql);
		worker->run->worker = worker;
		step_statement(worker->run);
	}
	if (sql->first != NULL &&
	    sql->count < (size_t)sql->config->sql_connections)
		add_worker(sql);
}

/* The transport ------------------------------------------------------------ */

static void
stop_waiting(struct run *run)
{
	struct run **place = &run->sql->first;

	while (*place != run)
		place = &(*place)->next;
	*place = run->next;
	if (run->next == NULL)
		run->sql->end = place;
}

static void
on_limit(void *arg)
{
	struct run *run = arg;

	run->stopped = "timeout";
	if (run->worker != NULL)
		session_reset(run->worker->session, "no answer in time");
}

static void
sql_cancel(struct run *run)
{
	if (run->stopped != NULL || run->end_call.queued)
		return;
	run->stopped = "cancelled";
	if (run->phase == PHASE_WAITING) {
		stop_waiting(run);
		set_stopped(run);
		loop_later(run->sql->loop, &run->end_call);
	} else if (run->phase == PHASE_STATEMENT) {
		session_cancel(run->worker->session);
	}
}

static void
sql_free(struct run *run)
{
	struct worker *worker = run->worker;

	if (worker != NULL) {
		worker->run = NULL;
		session_cancel(worker->session);
		session_reset(worker->session, "task abandoned");
	} else if (run->phase == PHASE_WAITING && !run->end_call.queued) {
		stop_waiting(run);
	}
	loop_cancel(run->sql->loop, &run->end_call);
	loop_timer_stop(run->sql->loop, &run->limit_timer);
	sql_statement_release(&run->statement);
	outcome_release(&run->outcome);
	json_free(run->args);
	free(run->lost);
	free(run);
}

static struct run *
sql_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct sql *sql = state;
	struct run *run = xcalloc(1, sizeof(*run));

	run->sql = sql;
	run->task = task;
	run->done = done;
	run->arg = arg;
	run->timeout_ms = task->timeout_ms > 0 ? task->timeout_ms
	                                       : sql->config->sql_timeout_ms;
	run->limit_timer.fn = on_limit;
	run->limit_timer.arg = run;
	run->end_call.fn = finish;
	run->end_call.arg = run;
	outcome_init(&run->outcome);
	if (!json_parse(task->args, task->args_len, &run->args, err) ||
	    !sql_statement_init(&run->statement, run->args, err)) {
		sql_statement_release(&run->statement);
		json_free(run->args);
		free(run);
		return NULL;
	}
	*sql->end = run;
	sql->end = &run->next;
	serve(sql);
	return run;
}

static bool
sql_open(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct sql *sql = xcalloc(1, sizeof(*sql));

	(void)err;
	sql->loop = loop;
	sql->config = config;
	*state = sql;
	return true;
}

static void *
sql_attach(void *state, const struct config_workspace *workspace)
{
	const struct sql *common = state;
	struct sql *sql;

	if (workspace->sql_connection[0] == '\0')
		return NULL;
	sql = xcalloc(1, sizeof(*sql));
	*sql = *common;
	sql->workspace = workspace;
	sql->end = &sql->first;
	sql->workers = xcalloc(
	    (size_t)sql->config->sql_connections, sizeof(sql->workers[0]));
	return sql;
}

static void
sql_detach(void *state)
{
	struct sql *sql = state;

	while (sql->count > 0)
		session_free(sql->workers[--sql->count].session);
	free(sql->workers);
	free(sql);
}

const struct transport transport_sql = {
	.name = "sql",
	.open = sql_open,
	.attach = sql_attach,
	.detach = sql_detach,
	.start = sql_start,
	.cancel = sql_cancel,
	.free = sql_free,
	.close = free,
};
