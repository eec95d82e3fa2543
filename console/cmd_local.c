/*
 * cmd_local.c - a local workspace: start, run, status, stop.
 */
#include <stdlib.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/local.h"
#include "console/session.h"
#include "console/start.h"
#include "console/workspace.h"

/* Roles of the driver: one that polls, one as which SQL tasks run. */
static const char make_roles[] =
    "do $$ begin"
    "  if to_regrole('pgwf_driver') is null then"
    "    create role pgwf_driver login;"
    "  end if;"
    "  if to_regrole('pgwf_tasks') is null then"
    "    create role pgwf_tasks login;"
    "  end if;"
    "  grant wf_driver to pgwf_driver;"
    "  grant wf_app to pgwf_tasks;"
    "  grant create on schema public to pgwf_tasks;"
    "  execute format('grant create on database %I to pgwf_tasks',"
    "    current_database());"
    "end $$";

/* Run `sql` in one of the databases; `*is_empty` says that it gave no rows. */
static bool
ask(const struct local *local, const char *dbname, const char *sql,
    bool *is_empty, struct error *err)
{
	struct pg_result *result = NULL;
	struct pg_target target;
	struct pg *pg;

	local_target(local, dbname, &target);
	pg = pg_connect(&target, err);
	if (pg != NULL)
		result = pg_query(pg, sql, NULL, err);
	*is_empty = result != NULL && pg_rows(result) == 0;
	pg_result_free(result);
	pg_free(pg);
	return result != NULL;
}

/* Make the database, the workspace in it and the driver's roles. */
static bool
make_workspace(const struct local *local, struct error *err)
{
	struct pg_target target;
	bool is_missing, ignored;

	if (!ask(local, "postgres",
	        "select from pg_database where datname = '" LOCAL_DATABASE "'",
	        &is_missing, err) ||
	    (is_missing &&
	        !ask(local, "postgres", "create database " LOCAL_DATABASE,
	            &ignored, err)))
		return false;
	if (!ask(local, LOCAL_DATABASE,
	        "select from pg_namespace where nspname = 'wf'", &is_missing,
	        err))
		return false;
	local_target(local, LOCAL_DATABASE, &target);
	return (!is_missing || workspace_script(&target, "install.sql", err)) &&
	       ask(local, LOCAL_DATABASE, make_roles, &ignored, err);
}

static bool
start_all(struct console *console, struct local *local, struct error *err)
{
	if (!local_init(local, console_value(console, "dir"), err) ||
	    !local_open(local, err))
		return false;
	if (!local_server_is_running(local))
		console_note(console, "starting PostgreSQL in %s", local->dir);
	return local_lock(local, err) && local_server_start(local, err) &&
	       make_workspace(local, err) && local_driver_start(local, err);
}

/* One row: what runs, and how other programs connect to it. */
static void
print_status(const struct console *console, const struct local *local)
{
	static const struct column columns[] = {
		{ "directory", VALUE_TEXT },
		{ "server", VALUE_TEXT },
		{ "driver", VALUE_TEXT },
		{ "socket", VALUE_TEXT },
		{ "database", VALUE_TEXT },
		{ "logs", VALUE_TEXT },
		{ "psql", VALUE_TEXT },
	};
	char *psql = xasprintf(
	    "psql -h %s -U %s %s", local->run, local->owner, LOCAL_DATABASE);
	struct output output;

	console_begin(console, &output, columns, 7);
	output_row(
	    &output, (const char *const[]){ local->dir,
	                 local_server_is_running(local) ? "running" : "stopped",
	                 local_driver_is_running(local) ? "running" : "stopped",
	                 local->run, LOCAL_DATABASE, local->log, psql });
	output_end(&output);
	free(psql);
}

enum exit_code
cmd_local_start(struct console *console, struct error *err)
{
	struct local local;
	bool ok = start_all(console, &local, err);

	if (ok)
		print_status(console, &local);
	if (ok && local_driver_is_outdated(&local))
		console_note(console,
		    "driver.conf has changed since the driver started: "
		    "`wf-console local stop` and `wf-console local start` "
		    "apply it");
	local_release(&local);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

/* Check it before anything is started. */
static bool
check_file(const struct console *console, struct error *err)
{
	struct compiled compiled;
	bool ok = compile_file(
	    console, console_value(console, "FILE"), &compiled, err);

	compiled_release(&compiled);
	return ok;
}

enum exit_code
cmd_local_run(struct console *console, struct error *err)
{
	enum exit_code code = EXIT_FAILED;
	struct pg_target target;
	struct local local = { .home = -1, .lock = -1 };

	if (check_file(console, err) && start_all(console, &local, err)) {
		local_unlock(&local);
		local_target(&local, LOCAL_DATABASE, &target);
		if (session_open_target(console, &target, NEEDS_WORKSPACE, err))
			code = run_file(console, console_value(console, "FILE"),
			    console_value(console, "WORKFLOW"), err);
	}
	local_release(&local);
	return code;
}

enum exit_code
cmd_local_status(struct console *console, struct error *err)
{
	struct local local;
	bool ok = local_init(&local, console_value(console, "dir"), err) &&
	          local_open(&local, err);

	if (ok)
		print_status(console, &local);
	local_release(&local);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

enum exit_code
cmd_local_stop(struct console *console, struct error *err)
{
	struct local local;
	bool ok = local_init(&local, console_value(console, "dir"), err) &&
	          local_open(&local, err) &&
	          (local.home < 0 || (local_lock(&local, err) &&
	                                 local_driver_stop(&local, err) &&
	                                 local_server_stop(&local, err)));

	if (ok)
		print_status(console, &local);
	local_release(&local);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
