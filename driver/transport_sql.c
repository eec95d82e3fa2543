/*
 * transport_sql.c - SQL tasks, and the sessions that they share.
 *
 * The sessions log in as the role that the tasks run as.
 */
#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/outcome.h"
#include "driver/session.h"
#include "driver/sql_batch.h"
#include "driver/sql_run.h"
#include "driver/transport.h"

enum {
	PATIENCE_MS = 30000, /* without a session, while the driver has one */
};

/* A session and the task that it is at. */
struct worker {
	struct sql *sql;
	struct session *session;
	struct run *run; /* NULL: none */
	bool is_new;     /* the session is being opened */
};

/* The sessions of one workspace. */
struct sql {
	struct loop *loop;
	const struct config *config;
	const struct config_workspace *workspace; /* NULL: of all of them */
	struct worker *workers;
	size_t count;             /* of those that were needed so far */
	struct run *first, **end; /* that wait */
	bool away;                /* the driver has no connection, either */
	bool vain;                /* it has, but nobody here, ... */
	struct mono vain_since;   /* ... since then */
};

/* Tasks end ---------------------------------------------------------------- */

static void serve(struct sql *sql);

static void
finish(void *arg)
{
	struct run *run = arg;
	struct sql *sql = run->sql;
	struct outcome outcome = run->outcome;

	outcome_init(&run->outcome);
	run->phase = SQL_OVER;
	if (run->worker != NULL)
		run->worker->run = NULL;
	run->worker = NULL;
	run->done(run->arg, &outcome);
	serve(sql);
}

static void
on_over(struct run *run)
{
	finish(run);
}

/* Sessions ----------------------------------------------------------------- */

static void
on_ready(void *arg)
{
	struct worker *worker = arg;

	worker->sql->vain = false;
	worker->is_new = true;
	sql_batch_open(worker->session);
}

static void
on_open(struct worker *worker, const struct session_answer *answer)
{
	worker->is_new = false;
	if (answer->lost)
		return;
	if (worker->run != NULL)
		sql_run_resume(worker->run);
	else
		serve(worker->sql);
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	struct worker *worker = arg;

	if (worker->is_new)
		on_open(worker, answer);
	else if (worker->run != NULL)
		sql_run_answer(worker->run, answer);
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

/*
 * Whether it is our login that fails, and has failed for long enough.  While
 * the driver has no connection, either, its tasks wait with it.
 */
static bool
is_in_vain(struct sql *sql)
{
	if (sql->away || any_ready_or_busy(sql)) {
		sql->vain = false;
		return false;
	}
	if (!sql->vain)
		sql->vain_since = mono_now();
	sql->vain = true;
	return mono_diff_ms(mono_now(), sql->vain_since) >= PATIENCE_MS;
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	struct worker *worker = arg;
	struct sql *sql = worker->sql;
	struct run *run;

	LOG_IN(LOG_LEVEL_DEBUG, sql->workspace->name,
	    "no connection for SQL tasks, attempt %d: %s", failures,
	    err->message);
	if (!is_in_vain(sql))
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
		.label = sql->workspace->name,
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
		sql_run_begin(worker->run, worker->session);
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
sql_cancel(struct run *run)
{
	if (run->stopped != NULL || run->end_call.queued)
		return;
	if (run->phase == SQL_WAITING) {
		stop_waiting(run);
		loop_later(run->sql->loop, &run->end_call);
	}
	sql_run_stop(run);
}

static void
sql_free(struct run *run)
{
	struct worker *worker = run->worker;

	if (worker != NULL) {
		worker->run = NULL;
		sql_run_abandon(run);
	} else if (run->phase == SQL_WAITING && !run->end_call.queued) {
		stop_waiting(run);
	}
	loop_cancel(run->sql->loop, &run->end_call);
	sql_run_free(run);
}

static struct run *
sql_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct sql *sql = state;
	struct run *run = sql_run_new(sql->loop, sql->config, task, err);

	if (run == NULL)
		return NULL;
	run->sql = sql;
	run->done = done;
	run->arg = arg;
	run->over = on_over;
	run->end_call.fn = finish;
	run->end_call.arg = run;
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

static void
sql_connected(void *state, bool connected)
{
	struct sql *sql = state;

	sql->away = !connected;
	sql->vain = false;
}

const struct transport transport_sql = {
	.name = "sql",
	.open = sql_open,
	.attach = sql_attach,
	.detach = sql_detach,
	.connected = sql_connected,
	.start = sql_start,
	.cancel = sql_cancel,
	.free = sql_free,
	.close = free,
};
