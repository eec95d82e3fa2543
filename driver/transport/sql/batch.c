#include "driver/transport/sql/batch.h"

#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"
#include "driver/transport/sql/statement.h"
#include "driver/transport/transport.h"
#include "runtime/session.h"

enum {
	OPENED = 2,         /* the settings, the login */
	BEGUN = 1,          /* begin, but not sql_begin */
	COMMIT_RESULTS = 5, /* up to the commit, with it */
};

/* Call a procedure with the task's ids and token, and perhaps a body. */
static void
send_token(struct session *session, const char *sql, const struct task *task,
    const struct buf *body)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, task->instance_id);
	pg_params_add_bigint(&params, task->process_id);
	pg_params_add(&params, task->token);
	if (body != NULL)
		pg_params_add_bytes(&params, body->data, body->len);
	session_send(session, sql, &params);
	pg_params_release(&params);
}

static void
sql_begin(struct session *session, const struct task *task)
{
	send_token(session, "select wf.sql_begin($1, $2, $3)", task, NULL);
}

static void
sql_outcome(
    struct session *session, const struct task *task, const struct buf *body)
{
	send_token(
	    session, "select wf.sql_outcome($1, $2, $3, $4)", task, body);
}

static void
token_status(struct session *session, const struct task *task)
{
	send_token(session, "select wf.token_status($1, $2, $3)", task, NULL);
}

static void
send_limit(struct session *session, int64_t timeout_ms)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, timeout_ms);
	session_send(session,
	    "select pg_catalog.set_config('statement_timeout', $1::text, true)",
	    &params);
	pg_params_release(&params);
}

void
sql_batch_open(struct session *session)
{
	session_send(session, SESSION_BEGIN, NULL);
	session_send(session,
	    "select r.rolname, pg_catalog.concat_ws(' and ',"
	    " case when r.rolsuper then 'is a superuser' end,"
	    " case when r.rolcreaterole then 'may create roles' end),"
	    " (select coalesce(pg_catalog.string_agg("
	    "s.setconfig::pg_catalog.text, ' ' order by s.setdatabase), '')"
	    " from pg_catalog.pg_db_role_setting s where s.setrole = r.oid)"
	    " from pg_catalog.pg_roles r where r.rolname = session_user",
	    NULL);
	session_go(session);
}

struct sql_login
sql_batch_opened(const struct session_answer *answer)
{
	const struct pg_result *result;

	if (answer->err != NULL || answer->count < OPENED ||
	    pg_rows(answer->results[OPENED - 1]) != 1)
		return (struct sql_login){ 0 };
	result = answer->results[OPENED - 1];
	return (struct sql_login){
		.name = pg_value(result, 0, 0),
		.powers = pg_value(result, 0, 1),
		.settings = pg_value(result, 0, 2),
	};
}

static void
send_statement(struct session *session, const struct sql_statement *statement,
    int64_t timeout_ms)
{
	session_send(session, "savepoint task", NULL);
	send_limit(session, timeout_ms);
	session_send(session, statement->text.data, &statement->params);
	if (!statement->wrapped)
		session_drop_rows(session);
	session_go(session);
}

void
sql_batch_first(struct session *session, const struct task *task,
    const struct sql_statement *statement, int64_t timeout_ms)
{
	session_send(session, "begin isolation level read committed", NULL);
	sql_begin(session, task);
	send_statement(session, statement, timeout_ms);
}

void
sql_batch_next(struct session *session, const struct sql_statement *statement,
    int64_t timeout_ms)
{
	/* fails if the previous statement ended the transaction */
	session_send(session, "release savepoint task", NULL);
	send_statement(session, statement, timeout_ms);
}

/*
 * Make the session like a new one for the next task.  `discard all` would do
 * the same, but it also drops the plans of the workspace's functions.  Making
 * them again takes the server about 20 ms, several times as long as the task.
 */
static void
send_reset(struct session *session)
{
	static const char *const commands[] = { "close all",
		"set session authorization default", "reset all",
		"deallocate all", "unlisten *",
		"select pg_catalog.pg_advisory_unlock_all()", "discard temp",
		"discard sequences" };
	size_t i;

	session_split(session);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		session_send(session, commands[i], NULL);
	session_send(session, SESSION_BEGIN, NULL);
	session_go(session);
}

void
sql_batch_commit(
    struct session *session, const struct task *task, const struct buf *body)
{
	/* fails if the statement ended the transaction */
	session_send(session, "release savepoint task", NULL);
	session_send(session, "set constraints all immediate", NULL);
	sql_outcome(session, task, body);
	/*
	 * wf.sql_outcome() was the last check of the task's effects.  But a
	 * trigger that the task deferred once more, and the query of a held
	 * cursor, run in the commit.
	 */
	session_send(session, "set transaction read only", NULL);
	session_send(session, "commit", NULL);
	send_reset(session);
}

bool
sql_batch_committed(const struct session_answer *answer)
{
	/* not the count: the session is reset after a failure, too */
	return answer->done >= COMMIT_RESULTS;
}

void
sql_batch_rollback(struct session *session)
{
	session_send(session, "rollback", NULL);
	send_reset(session);
}

void
sql_batch_status(struct session *session, const struct task *task)
{
	token_status(session, task);
	session_go(session);
}

bool
sql_batch_is_misplaced(const struct session_answer *answer)
{
	const char *sqlstate = answer->err != NULL ? answer->err->sqlstate : "";

	/* the task's own statement may also try to write on a standby */
	return sqlstate_is(sqlstate, SQLSTATE_UPGRADED) ||
	       (sqlstate_is(sqlstate, SQLSTATE_READ_ONLY) &&
	           answer->count <= BEGUN);
}

/* Whether the answer has this status.  The answer to a begin has no rows. */
static bool
is_status(const struct session_answer *answer, const char *status)
{
	return answer->err == NULL && pg_rows(answer->results[0]) == 1 &&
	       strcmp(pg_value(answer->results[0], 0, 0), status) == 0;
}

bool
sql_batch_is_unknown(const struct session_answer *answer)
{
	if (answer->err != NULL)
		return sqlstate_is(
		           answer->err->sqlstate, SQLSTATE_STALE_TOKEN) &&
		       answer->count <= BEGUN;
	return is_status(answer, "stale");
}

bool
sql_batch_is_open(const struct session_answer *answer)
{
	return is_status(answer, "open");
}
