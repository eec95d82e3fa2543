#include "driver/workspace.h"

#include <string.h>

#include "common/error.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"
#include "driver/poll_window.h"
#include "runtime/exposure.h"
#include "runtime/session.h"

#define GREET "select wf.greet($1::int)"

/*
 * The server's timeline: the first of the three numbers in the names of its WAL
 * files.
 */
#define TIMELINE \
	"select case when not pg_catalog.pg_is_in_recovery() then" \
	" ('x' || left(pg_catalog.pg_walfile_name(" \
	"pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::bigint end"

static void
send_empty(struct session *session, const char *sql)
{
	session_send(session, sql, NULL);
}

/* Call a procedure whose only argument is a number. */
static void
send_number(struct session *session, const char *sql, int64_t number)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, number);
	session_send(session, sql, &params);
	pg_params_release(&params);
}

void
workspace_greet(struct session *session)
{
	send_number(session, GREET, PGWF_SCHEMA_VERSION);
}

void
workspace_register(
    struct session *session, const struct workspace_driver *driver)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add(&params, driver->name);
	pg_params_add(&params, driver->version);
	pg_params_add_array(&params, driver->transports);
	pg_params_add_array(&params, driver->queues);
	pg_params_add_bigint(&params, driver->slots);
	if (driver->previous != 0)
		pg_params_add_bigint(&params, driver->previous);
	else
		pg_params_add(&params, NULL);
	pg_params_add_array(&params, driver->tokens);
	pg_params_add_array(&params, driver->capabilities);
	pg_params_add_bigint(&params, session_backend(session));
	pg_params_add_array(&params, driver->marks);
	session_send(session,
	    "select wf.register($1, $2, $3, $4, $5::int, $6, $7, $8, $9::int,"
	    " $10)",
	    &params);
	pg_params_release(&params);
}

int64_t
workspace_registered(const struct pg_result *result)
{
	return pg_value_bigint(result, 0, 0);
}

void
workspace_outcome(struct session *session, int64_t driver,
    const struct workspace_reports *reports)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, driver);
	pg_params_add_array(&params, reports->instances);
	pg_params_add_array(&params, reports->processes);
	pg_params_add_array(&params, reports->tokens);
	pg_params_add_array(&params, reports->events);
	pg_params_add_array(&params, reports->bodies);
	pg_params_add_bigint(&params, reports->patience_ms);
	pg_params_add_bigint(&params, reports->failures);
	pg_params_add(&params, reports->cause);
	session_send(session,
	    "select token, answer from wf.outcome($1, $2, $3, $4, $5, $6,"
	    " $7::int, $8::int, $9)",
	    &params);
	pg_params_release(&params);
}

struct workspace_answer
workspace_answered(const struct pg_result *result, int row)
{
	return (struct workspace_answer){
		.token = pg_value(result, row, 0),
		.answer = pg_value(result, row, 1),
	};
}

void
workspace_output_add(
    struct session *session, const struct workspace_output *output)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_array(&params, output->instances);
	pg_params_add_array(&params, output->processes);
	pg_params_add_array(&params, output->tokens);
	pg_params_add_array(&params, output->starts);
	pg_params_add_array(&params, output->sizes);
	pg_params_add_array(&params, output->streams);
	pg_params_add_array(&params, output->bodies);
	session_send(session,
	    "select token, answer from"
	    " wf.output_add($1, $2, $3, $4, $5, $6, $7)",
	    &params);
	pg_params_release(&params);
}

/* The kept slots as a JSON object, or NULL if no slot is kept. */
static void
add_kept(struct pg_params *params, const struct load *want)
{
	struct buf json;
	size_t i;

	buf_init(&json, 0);
	for (i = 0; i < TRANSPORTS_MOST && want->kept[i].transport; i++)
		if (want->kept[i].slots > 0)
			buf_addf(&json, "%s\"%s\": %lld",
			    json.len > 0 ? ", " : "{", want->kept[i].transport,
			    (long long)want->kept[i].slots);
	if (json.len > 0)
		buf_adds(&json, "}");
	pg_params_add(params, json.len > 0 ? json.data : NULL);
	buf_release(&json);
}

void
workspace_poll(struct session *session, int64_t driver, const struct load *want)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, driver);
	pg_params_add_bigint(&params, want->slots);
	pg_params_add_bigint(&params, want->instant);
	add_kept(&params, want);
	session_send(session,
	    "select kind, wait_ms, instance_id, process_id, attempt, token,"
	    " request, needs_ack, transport, task_type, args, timeout_ms,"
	    " trace_id, secrets, mark, run_as, workflow"
	    " from wf.poll($1, $2::int, $3::int, $4::jsonb)",
	    &params);
	pg_params_release(&params);
}

static const char *
text(const struct pg_result *result, int row, int column)
{
	const char *value = pg_value(result, row, column);

	return value != NULL ? value : "";
}

struct workspace_row
workspace_polled(const struct pg_result *result, int row)
{
	const char *kind = text(result, row, 0);
	const char *args = pg_value(result, row, 10);

	return (struct workspace_row){
		.kind = kind[0] == 'r'   ? WORKSPACE_RUN
		        : kind[0] == 's' ? WORKSPACE_STOP
		        : kind[0] == 'b' ? WORKSPACE_BUSY
		        : kind[0] == 'w' ? WORKSPACE_WORK
		                         : WORKSPACE_NEXT,
		.wait_ms = pg_value_bigint(result, row, 1),
		.instance_id = pg_value_bigint(result, row, 2),
		.process_id = pg_value_bigint(result, row, 3),
		.attempt = (int)pg_value_bigint(result, row, 4),
		.token = text(result, row, 5),
		.request = text(result, row, 6),
		.needs_ack = pg_value_bool(result, row, 7),
		.transport = text(result, row, 8),
		.type = text(result, row, 9),
		.args = args != NULL ? args : "{}",
		.args_len = args != NULL ? pg_value_length(result, row, 10) : 2,
		.timeout_ms = pg_value_bigint(result, row, 11),
		.trace_id = text(result, row, 12),
		.secrets = pg_value(result, row, 13),
		.mark = pg_value(result, row, 14),
		.run_as = pg_value(result, row, 15),
		.workflow = pg_value(result, row, 16),
	};
}

void
workspace_heartbeat(struct session *session, int64_t driver)
{
	send_number(session, "select wf.heartbeat($1)", driver);
}

void
workspace_counters_set(
    struct session *session, int64_t driver, const char *counters)
{
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, driver);
	pg_params_add(&params, counters);
	session_send(session, "select wf.counters_set($1, $2::jsonb)", &params);
	pg_params_release(&params);
}

void
workspace_work(struct session *session, int64_t item, bool failed)
{
	send_number(session,
	    failed ? "select wf.work($1, true)" : "select wf.work($1)", item);
}

int64_t
workspace_worked(const struct pg_result *result)
{
	return pg_value_bigint(result, 0, 0);
}

void
workspace_drain(struct session *session, int64_t driver)
{
	send_number(session, "select wf.drain($1)", driver);
}

void
workspace_leave(struct session *session, int64_t driver)
{
	send_number(session, "select wf.leave($1)", driver);
}

/*
 * Let the server end a statement before we would give the session up; then the
 * session goes on.  None of our transactions waits for anything.  If somebody
 * has set a lower limit for the login or the database, that limit stays.  A
 * limit of the whole server is only a default.
 */
static void
send_limits(struct session *session)
{
	int64_t ms = session_answer_ms(session);
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add_bigint(&params, ms - ms / 4);
	pg_params_add_bigint(&params, ms);
	session_send(session,
	    "select set_config(s.name, least("
	    " case when s.source in ('client', 'user', 'database',"
	    " 'database user') then nullif(s.setting::bigint, 0) end,"
	    " case s.name when 'statement_timeout' then $1 else $2 end)::text,"
	    " false)"
	    " from pg_settings s where s.name in ('statement_timeout',"
	    " 'idle_in_transaction_session_timeout')",
	    &params);
	pg_params_release(&params);
}

void
workspace_open(struct session *session, bool listens)
{
	send_empty(session, SESSION_BEGIN);
	send_limits(session);
	if (listens)
		send_empty(session, "listen wf_ready");
	session_split(session); /* not every server knows its timeline */
	send_empty(session, TIMELINE);
}

int64_t
workspace_opened(const struct session_answer *answer)
{
	return pg_value_bigint(answer->results[answer->count - 1], 0, 0);
}

/* Common failures of a driver, and how its operator can repair them. */
static const struct {
	const char *sqlstate;
	const char *hint;
} advice[] = {
	{ SQLSTATE_NO_SCHEMA,
	    "Install the workspace: psql -f workspace-sql/install.sql" },
	{ SQLSTATE_NO_RIGHT,
	    "Grant the role wf_driver to the driver's login." },
	{ SQLSTATE_NO_FUNCTION,
	    "The workspace is older than the driver: upgrade it." },
	{ SQLSTATE_ISOLATION,
	    "Behind a pooler, set default_transaction_isolation to read "
	    "committed for the driver's login." },
};

const char *
workspace_advice(const char *sqlstate)
{
	size_t i;

	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (sqlstate_is(sqlstate, advice[i].sqlstate))
			return advice[i].hint;
	return NULL;
}

bool
workspace_check(const char *label, const char *conninfo, struct error *err)
{
	struct pg_target target = {
		.dbname = conninfo,
		.program = "wf-driver",
	};
	struct pg *pg = pg_connect(&target, err);
	struct pg_params params;
	struct pg_result *result;
	bool ok;

	if (pg == NULL) {
		if (err->hint == NULL)
			error_hint(err,
			    "Name database and user with -d, in the "
			    "configuration file or with PG* variables.");
		return false;
	}
	exposure_drop(exposure_hold(label, pg));
	pg_params_init(&params);
	pg_params_add_bigint(&params, PGWF_SCHEMA_VERSION);
	result = pg_query(pg, GREET, &params, err);
	pg_params_release(&params);
	ok = result != NULL;
	if (!ok && workspace_advice(err->sqlstate) != NULL)
		error_hint(err, "%s", workspace_advice(err->sqlstate));
	pg_result_free(result);
	pg_free(pg);
	return ok;
}
