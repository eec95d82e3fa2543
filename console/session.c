#include "console/session.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"
#include "common/suggestion.h"
#include "console/console.h"
#include "console/local.h"

/* One value of one row, for the caller to free(); NULL if there is none. */
static char *
ask(const struct console *console, const char *sql)
{
	struct error ignored = { 0 };
	struct pg_result *result = pg_query(console->pg, sql, NULL, &ignored);
	char *value = NULL;

	if (result != NULL && pg_rows(result) > 0 &&
	    pg_value(result, 0, 0) != NULL)
		value = xstrdup(pg_value(result, 0, 0));
	pg_result_free(result);
	error_release(&ignored);
	return value;
}

/*
 * Hints for a failed connection, by words of its message: libpq gives no
 * SQLSTATE.  libpq's own messages are English, since we set no locale for
 * messages.  A message of the server is in the server's language, and has two
 * blanks behind a colon.
 */
static void
explain_connection(const struct console *console, struct error *err)
{
	static const struct {
		const char *part;
		const char *hint;
	} hints[] = {
		{ "no memory", NULL },
		{ "channel binding",
		    "channel_binding=require takes TLS, and a role of the "
		    "server that has a SCRAM password." },
		{ "certificate verify failed",
		    "The server's certificate has expired, or sslrootcert "
		    "names the file of another authority." },
		{ "does not match host name",
		    "Name the host as its certificate does; "
		    "hostaddr says where it is." },
		{ "root certificate file",
		    "sslrootcert names the file of the authority that has "
		    "signed the server's certificate." },
		{ "does not support SSL",
		    "The server needs `ssl = on` and a certificate." },
		{ "database \"", "Create it with createdb, or name another "
		                 "one with -d or PGDATABASE." },
		{ "role \"", "Name a user that exists with -U or PGUSER." },
		{ "authentication failed",
		    "Name a user with -U; passwords come from ~/.pgpass." },
		{ "password", "Put the password into ~/.pgpass, or name a "
		              "file with PGPASSFILE." },
		{ "service", "Services stand in ~/.pg_service.conf." },
		{ ":  ", "The server has refused. Another database is named "
		         "with -d, another user with -U; passwords come from "
		         "~/.pgpass." },
		{ "", "Name a database with -d, -h or PG* variables, or start "
		      "one of your own: `wf-console local start`." },
	};
	size_t i = 0;

	(void)console;
	while (strstr(err->message, hints[i].part) == NULL)
		i++;
	if (hints[i].hint != NULL)
		error_hint(err, "%s", hints[i].hint);
}

static void
explain_no_workspace(const struct console *console, struct error *err)
{
	char *database = ask(console, "select current_database()");

	error_set(err, "no workspace in database \"%s\"",
	    database != NULL ? database : "?");
	error_hint(err, "`wf-console workspace install` makes one there; "
	                "-d names another database.");
	free(database);
}

static void
explain_no_rights(const struct console *console, struct error *err)
{
	const char *role = console->invocation.command->role;
	char *user = ask(console, "select quote_ident(session_user)");

	if (strstr(err->message, "_v") != NULL) /* a view, on the way */
		role = "wf_viewer";
	error_hint(err,
	    "It takes the role %s; an administrator may say: "
	    "grant %s to %s;",
	    role, role, user != NULL ? user : "you");
	free(user);
}

static void
explain_old_workspace(const struct console *console, struct error *err)
{
	(void)console;
	if (strstr(err->message, "wf.") != NULL)
		error_hint(err, "The workspace is older than this program: "
		                "`wf-console workspace upgrade`.");
}

/*
 * The session broke, so nobody here knows whether the statement was carried
 * out.
 */
static void
explain_broken(const struct console *console, struct error *err)
{
	(void)console;
	error_prefix(err, "connection lost, the outcome is unknown");
	error_hint(err, "See what happened with `wf-console list` and "
	                "`wf-console history` before doing it again.");
}

/* The installed workflow with a name like `wanted`; false if there is none. */
static bool
suggest_workflow(
    const struct console *console, const char *wanted, struct error *err)
{
	struct error ignored = { 0 };
	struct suggestion suggestion;
	struct pg_result *names = pg_query(
	    console->pg, "select workflow from wf.workflow_v", NULL, &ignored);
	bool is_near;
	int row;

	suggestion_init(&suggestion, wanted);
	for (row = 0; names != NULL && row < pg_rows(names); row++)
		suggestion_offer(&suggestion, pg_value(names, row, 0),
		    pg_value_length(names, row, 0));
	is_near =
	    suggestion.best != NULL && strcmp(suggestion.best, wanted) != 0;
	if (is_near)
		error_hint(err, "Did you mean %s?", suggestion.best);
	pg_result_free(names);
	error_release(&ignored);
	return is_near;
}

/* The command that lists the things that the command line names. */
static void
explain_not_found(const struct console *console, struct error *err)
{
	static const struct {
		const char *name, *hint;
	} lists[] = {
		{ "DRIVER", "`wf-console drivers` lists the drivers." },
		{ "WORKFLOW", "`wf-console workflows` lists the workflows." },
		{ "INSTANCE", "`wf-console list` lists the instances." },
		{ "PROCESS", "`wf-console list` lists the instances, "
		             "`wf-console tree INSTANCE` their processes." },
		{ "TARGET", "`wf-console list` lists the instances, "
		            "`wf-console tree INSTANCE` their processes." },
	};
	const char *wanted = console_value(console, "WORKFLOW");
	size_t i;

	if ((wanted != NULL && suggest_workflow(console, wanted, err)) ||
	    err->hint != NULL)
		return;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (console_value(console, lists[i].name) != NULL) {
			error_hint(err, "%s", lists[i].hint);
			return;
		}
	error_hint(err, "`wf-console workflows`, `wf-console list` and "
	                "`wf-console tree` show what there is.");
}

static void
explain_limit(const struct console *console, struct error *err)
{
	(void)console;
	if (console_is_interrupted())
		error_hint(err, "Nothing of this statement was done.");
	else
		error_hint(err,
		    "Nothing of it was done. To give it longer: "
		    "PGOPTIONS='-c statement_timeout=1h' wf-console ...");
}

static const struct {
	const char *sqlstate;
	void (*explain)(const struct console *console, struct error *err);
} explanations[] = {
	{ SQLSTATE_NO_CONNECTION, explain_connection },
	{ SQLSTATE_CONNECTION_LOST, explain_broken },
	{ SQLSTATE_NO_SCHEMA, explain_no_workspace },
	{ SQLSTATE_NO_RIGHT, explain_no_rights },
	{ SQLSTATE_NO_FUNCTION, explain_old_workspace },
	{ SQLSTATE_CANCELLED, explain_limit },
	{ SQLSTATE_SESSION_ENDED, explain_broken },
	{ SQLSTATE_NOT_FOUND, explain_not_found },
};

void
session_explain(const struct console *console, struct error *err)
{
	struct error ignored = { 0 };
	size_t i;

	/* First end the failed transaction: only then can more be asked. */
	if (console->pg != NULL &&
	    pg_transaction(console->pg) == PG_IN_FAILED_TRANSACTION)
		pg_script(console->pg, "rollback", &ignored);
	error_release(&ignored);
	for (i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++)
		if (sqlstate_is(err->sqlstate, explanations[i].sqlstate))
			explanations[i].explain(console, err);
}

/* Ask the workspace whether this program can work with it. */
static bool
greet(const struct console *console, struct error *err)
{
	struct pg_params params;
	struct pg_result *result;
	bool ok;

	pg_params_init(&params);
	pg_params_add_bigint(&params, PGWF_SCHEMA_VERSION);
	/* Verbs must see what others have committed, whatever is set for the
	 * login or the database. */
	result = pg_query(console->pg,
	    "select wf.greet($1::int),"
	    " set_config('default_transaction_isolation', 'read committed',"
	    " false)",
	    &params, err);
	ok = result != NULL;
	pg_params_release(&params);
	pg_result_free(result);
	if (!ok)
		session_explain(console, err);
	return ok;
}

/* Whether anything says which database to use. */
static bool
is_named(const struct pg_target *target)
{
	static const char *const variables[] = { "PGHOST", "PGHOSTADDR",
		"PGPORT", "PGDATABASE", "PGSERVICE" };
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]) != NULL)
			return true;
	return target->dbname != NULL || target->host != NULL ||
	       target->port != NULL;
}

void
session_target(
    const struct console *console, struct pg_target *target, char **place)
{
	*target = (struct pg_target){
		.dbname = console_value(console, "dbname"),
		.host = console_value(console, "host"),
		.port = console_value(console, "port"),
		.user = console_value(console, "username"),
		.program = "wf-console",
	};
	*place = is_named(target) ? NULL : local_find_running();
	if (*place != NULL) {
		target->host = *place;
		target->port = LOCAL_PORT;
		target->dbname = LOCAL_DATABASE;
	}
}

/* How long the server may work on one statement of the command. */
static int64_t
limit_ms(const struct command *command)
{
	if (command->limit_s == NO_LIMIT)
		return 0;
	return INT64_C(1000) *
	       (command->limit_s > 0 ? command->limit_s : DEFAULT_LIMIT_S);
}

/*
 * Warn of what others can do to the session, unless somebody has declared it
 * safe.
 */
static void
warn_of_exposure(const struct pg *pg)
{
	const char *trust = getenv("WF_TRUST_NETWORK");
	char *exposure;

	if (trust != NULL && *trust != '\0')
		return;
	exposure = pg_exposure(pg);
	if (exposure != NULL)
		log_warnx("%s", exposure);
	free(exposure);
}

bool
session_open_target(struct console *console, const struct pg_target *target,
    enum needs needs, struct error *err)
{
	/* This is sent with the first packet, so it costs no round trip. */
	if (setenv("PGDATESTYLE", "ISO", 1) != 0)
		fatal("cannot set PGDATESTYLE");
	console->pg = pg_connect(target, err);
	if (console->pg == NULL) {
		session_explain(console, err);
		return false;
	}
	warn_of_exposure(console->pg);
	pg_limit(console->pg, limit_ms(console->invocation.command));
	return needs != NEEDS_WORKSPACE || greet(console, err);
}

bool
session_begin(struct console *console, struct error *err)
{
	return pg_script(console->pg,
	    "begin isolation level read committed;"
	    "select set_config('idle_in_transaction_session_timeout',"
	    "                  '10s', true)"
	    " where current_setting('idle_in_transaction_session_timeout')"
	    "       = '0'",
	    err);
}

bool
session_open(struct console *console, enum needs needs, struct error *err)
{
	struct pg_target target;
	char *place;
	bool ok;

	session_target(console, &target, &place);
	ok = session_open_target(console, &target, needs, err);
	free(place);
	return ok;
}
