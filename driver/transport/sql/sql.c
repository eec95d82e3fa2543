/*
 * sql.c - SQL tasks, and the sessions that they share.
 *
 * A session logs in as the role that its tasks run as.  This is the role of
 * sql_connection, or a role that the workspace has granted to the workflow.
 * Sessions never set a role: a task could set it back.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "driver/config/config.h"
#include "driver/transport/outcome.h"
#include "driver/transport/sql/batch.h"
#include "driver/transport/sql/run.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"
#include "runtime/session.h"

enum {
	PATIENCE_MS = 30000, /* without a session, if the driver has one */
};

/* A session and its current task. */
struct worker {
	struct pool *pool;
	struct session *session;
	struct run *run; /* NULL: none */
	bool is_new;     /* the session is being opened */
};

/* The sessions of one login, and the runs that wait for them. */
struct pool {
	struct sql *sql;
	char *role; /* NULL: as sql_connection says */
	struct worker *workers;
	size_t count;                          /* how many were needed so far */
	TAILQ_HEAD(waiting_runs, run) waiting; /* in order */
	bool vain;              /* only the driver has a connection */
	struct mono vain_since; /* when that began */
	char *settings;         /* of the role, at its last login */
	struct pool *next;
};

/* The logins of one workspace. */
struct sql {
	struct loop *loop;
	const struct config *config;
	const struct config_workspace *workspace; /* NULL: for all */
	struct pool *pools;                       /* those needed so far */
	bool away; /* the driver has no connection */
};

/* Tasks end ---------------------------------------------------------------- */

static void serve(struct pool *pool);

static void
finish(void *arg)
{
	struct run *run = arg;
	struct pool *pool = run->pool;
	struct outcome outcome = run->outcome;

	outcome_init(&run->outcome);
	run->phase = SQL_OVER;
	if (run->worker != NULL)
		run->worker->run = NULL;
	run->worker = NULL;
	run->done(run->arg, &outcome);
	if (pool != NULL)
		serve(pool);
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

	worker->pool->vain = false;
	worker->is_new = true;
	sql_batch_open(worker->session);
}

/*
 * A user who may log in as the role may change its settings, and each new
 * session begins with these settings.  Warn if they have changed; the first
 * login only stores them.
 */
static void
look_at(struct pool *pool, const struct sql_login *login)
{
	const char *label = pool->sql->workspace->name;

	if (login->name == NULL)
		return;
	if (pool->settings == NULL && login->powers[0] != '\0')
		LOG_IN(LOG_LEVEL_WARN, label,
		    "SQL tasks run as role %s, which %s: so does whoever "
		    "writes a workflow",
		    login->name, login->powers);
	if (pool->settings != NULL &&
	    strcmp(pool->settings, login->settings) != 0)
		LOG_IN(LOG_LEVEL_WARN, label,
		    "the settings of role %s, which SQL tasks run as, have "
		    "changed from %s to %s",
		    login->name, pool->settings, login->settings);
	free(pool->settings);
	pool->settings = xstrdup(login->settings);
}

static void
on_open(struct worker *worker, const struct session_answer *answer)
{
	const struct sql_login login = sql_batch_opened(answer);

	worker->is_new = false;
	if (answer->lost)
		return;
	look_at(worker->pool, &login);
	if (worker->run != NULL)
		sql_run_resume(worker->run);
	else
		serve(worker->pool);
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
		serve(worker->pool);
}

static struct run *
take_waiting(struct pool *pool)
{
	struct run *run = TAILQ_FIRST(&pool->waiting);

	if (run != NULL)
		TAILQ_REMOVE(&pool->waiting, run, link);
	return run;
}

static bool
any_ready_or_busy(const struct pool *pool)
{
	size_t i;

	for (i = 0; i < pool->count; i++)
		if (pool->workers[i].run != NULL ||
		    session_is_ready(pool->workers[i].session))
			return true;
	return false;
}

/*
 * Whether our own login fails, and has failed for long enough.  While the
 * driver has no connection either, its tasks wait with it.
 */
static bool
is_in_vain(struct pool *pool)
{
	if (pool->sql->away || any_ready_or_busy(pool)) {
		pool->vain = false;
		return false;
	}
	if (!pool->vain)
		pool->vain_since = mono_now();
	pool->vain = true;
	return mono_diff_ms(mono_now(), pool->vain_since) >= PATIENCE_MS;
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	struct run *run;

	LOG_IN(LOG_LEVEL_DEBUG, pool->sql->workspace->name,
	    "no connection for SQL tasks, attempt %d: %s", failures,
	    err->message);
	if (!is_in_vain(pool))
		return;
	while ((run = take_waiting(pool)) != NULL) {
		outcome_error(&run->outcome, "sql", NULL,
		    "no connection for SQL tasks: %s", err->message);
		loop_later(pool->sql->loop, &run->end_call);
	}
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
};

static void
add_worker(struct pool *pool)
{
	const struct config_workspace *workspace = pool->sql->workspace;
	struct worker *worker = &pool->workers[pool->count++];
	struct session_options options = {
		.conninfo = workspace->sql_connection,
		.user = pool->role,
		.program = "wf-driver sql",
		.label = workspace->name,
	};

	worker->pool = pool;
	worker->session =
	    session_new(pool->sql->loop, &options, &events, worker);
}

/* Give waiting tasks to free sessions; if some still wait, add a session. */
static void
serve(struct pool *pool)
{
	struct worker *worker;
	size_t i;

	for (i = 0; i < pool->count && !TAILQ_EMPTY(&pool->waiting); i++) {
		worker = &pool->workers[i];
		if (worker->run != NULL || !session_is_ready(worker->session))
			continue;
		worker->run = take_waiting(pool);
		worker->run->worker = worker;
		sql_run_begin(worker->run, worker->session);
	}
	if (!TAILQ_EMPTY(&pool->waiting) &&
	    pool->count < (size_t)pool->sql->config->sql_connections)
		add_worker(pool);
}

/* Pools -------------------------------------------------------------------- */

static struct pool *
add_pool(struct sql *sql, const char *role)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));

	pool->sql = sql;
	pool->role = role != NULL ? xstrdup(role) : NULL;
	TAILQ_INIT(&pool->waiting);
	pool->workers = xcalloc(
	    (size_t)sql->config->sql_connections, sizeof(pool->workers[0]));
	pool->next = sql->pools;
	sql->pools = pool;
	return pool;
}

static void
free_pool(struct pool *pool)
{
	while (pool->count > 0)
		session_free(pool->workers[--pool->count].session);
	free(pool->workers);
	free(pool->role);
	free(pool->settings);
	free(pool);
}

static bool
is_same_role(const char *a, const char *b)
{
	return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

static bool
is_offered(const struct config *config, const char *role)
{
	size_t i;

	for (i = 0; role != NULL && i < config->sql_roles.count; i++)
		if (strcmp(config->sql_roles.items[i], role) == 0)
			return true;
	return role == NULL;
}

/* NULL: this driver does not log in as that role. */
static struct pool *
find_pool(struct sql *sql, const char *role)
{
	struct pool *pool = sql->pools;

	if (!is_offered(sql->config, role))
		return NULL;
	while (pool != NULL && !is_same_role(pool->role, role))
		pool = pool->next;
	return pool != NULL ? pool : add_pool(sql, role);
}

/* The transport ------------------------------------------------------------ */

static void
stop_waiting(struct run *run)
{
	TAILQ_REMOVE(&run->pool->waiting, run, link);
}

static void
sql_cancel(struct run *run)
{
	if (run->stopped != NULL || run->end_call.queued)
		return;
	if (run->phase == SQL_WAITING) {
		stop_waiting(run);
		loop_later(run->loop, &run->end_call);
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
	loop_cancel(run->loop, &run->end_call);
	sql_run_free(run);
}

static void
wait_in(struct pool *pool, struct run *run)
{
	run->pool = pool;
	TAILQ_INSERT_TAIL(&pool->waiting, run, link);
	serve(pool);
}

static void
refuse_role(struct run *run)
{
	outcome_error(&run->outcome, "sql",
	    "{\"hint\":\"Name the role in sql_roles of the driver's "
	    "configuration, then retry the task.\"}",
	    "this driver has no login for role %s, which the SQL tasks of this "
	    "workflow run as",
	    run->task->run_as);
	loop_later(run->loop, &run->end_call);
}

static struct run *
sql_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct sql *sql = state;
	struct run *run = sql_run_new(sql->loop, sql->config, task, err);
	struct pool *pool;

	if (run == NULL)
		return NULL;
	run->done = done;
	run->arg = arg;
	run->over = on_over;
	run->end_call.fn = finish;
	run->end_call.arg = run;
	pool = find_pool(sql, task->run_as);
	if (pool != NULL)
		wait_in(pool, run);
	else
		refuse_role(run);
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
	return sql;
}

static void
sql_detach(void *state)
{
	struct sql *sql = state;
	struct pool *pool;

	while ((pool = sql->pools) != NULL) {
		sql->pools = pool->next;
		free_pool(pool);
	}
	free(sql);
}

static void
sql_connected(void *state, bool connected)
{
	struct sql *sql = state;
	struct pool *pool;

	sql->away = !connected;
	for (pool = sql->pools; pool != NULL; pool = pool->next)
		pool->vain = false;
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
