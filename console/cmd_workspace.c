/*
 * cmd_workspace.c - install, upgrade and uninstall the workspace.
 *
 * The work is done by psql with the scripts of workspace-sql, so that it is
 * the same whether a person or this program does it.
 */
#include "console/workspace.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/program.h"
#include "console/session.h"
#include "console/subprocess.h"

#define PSQL_OUTPUT_MAX 65536

/* The text between `label` and the end of its line; free() it. */
static char *
find_line(const char *output, const char *label)
{
	const char *at = strstr(output, label);

	if (at == NULL)
		return NULL;
	at += strlen(label);
	at += strspn(at, " ");
	return xstrndup(at, strcspn(at, "\n"));
}

/* Whether there is "SQLSTATE: " of an error, and not of a notice. */
static bool
is_error(const char *text)
{
	return strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 &&
	       strncmp(text + 5, ": ", 2) == 0 && strncmp(text, "00", 2) != 0 &&
	       strncmp(text, "01", 2) != 0 && strncmp(text, "02", 2) != 0;
}

/*
 * The SQLSTATE of the first error, which a line like this one has:
 *
 *     psql:/…/install.sql:12: ERROR:  WF004: message
 *
 * The word before it is in the server's language.  NULL if there is none.
 */
static const char *
find_error(const char *output)
{
	const char *at = output;

	while ((at = strstr(at, ":  ")) != NULL) {
		at += strlen(":  ");
		if (is_error(at))
			return at;
	}
	return NULL;
}

/* What psql says in verbose form, as our error. */
static void
explain_psql(const char *output, struct error *err)
{
	const char *error = find_error(output);
	char *message, *detail, *hint;

	if (error != NULL) {
		message = find_line(error, ": ");
		detail = find_line(error, "\nDETAIL:");
		hint = find_line(error, "\nHINT:");
		error_set(err, "%s", message);
		if (detail != NULL)
			error_detail(err, "%s", detail);
		if (hint != NULL && strstr(hint, "upgrade.sql") != NULL)
			error_hint(err, "`wf-console workspace upgrade` brings "
			                "it to the schema of this program.");
		else if (hint != NULL)
			error_hint(err, "%s", hint);
		free(hint);
		free(detail);
		free(message);
	}
}

bool
workspace_script(
    const struct pg_target *target, const char *script, struct error *err)
{
	char *path = program_sql_file(script, err);
	const char *argv[22] = { "psql", "-X", "-q", "-w", "-v",
		"ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-o", "/dev/null",
		"-f", path };
	struct buf output;
	size_t argc = 12;
	bool ok;

	if (path == NULL)
		return false;
	if (target->host != NULL)
		argv[argc++] = "-h", argv[argc++] = target->host;
	if (target->port != NULL)
		argv[argc++] = "-p", argv[argc++] = target->port;
	if (target->user != NULL)
		argv[argc++] = "-U", argv[argc++] = target->user;
	if (target->dbname != NULL)
		argv[argc++] = target->dbname;
	buf_init(&output, PSQL_OUTPUT_MAX);
	ok = subprocess_run(argv, NULL, &output, err);
	if (!ok)
		explain_psql(output.data, err);
	buf_release(&output);
	free(path);
	return ok;
}

/*
 * Run the script in the database of the command line, and show the workspace.
 */
static enum exit_code
run_script(struct console *console, const char *script, const char *answer,
    struct error *err)
{
	struct pg_target target;
	struct pg_result *result = NULL;
	char *place;

	session_target(console, &target, &place);
	if (workspace_script(&target, script, err)) {
		invocation_add(&console->invocation, "answer", "TEXT", answer);
		result = console_query(console,
		    "select current_database() as database, :answer as answer",
		    err);
	}
	if (result != NULL)
		console_print(console, result);
	pg_result_free(result);
	free(place);
	return result != NULL ? EXIT_DONE : EXIT_FAILED;
}

enum exit_code
cmd_workspace_install(struct console *console, struct error *err)
{
	return run_script(console, "install.sql", "installed", err);
}

enum exit_code
cmd_workspace_upgrade(struct console *console, struct error *err)
{
	return run_script(console, "upgrade.sql", "upgraded", err);
}

/* How much would be lost. */
static bool
may_uninstall(struct console *console, enum exit_code *code, struct error *err)
{
	struct pg_result *result;
	char *question;
	bool yes = true;

	if (console_flag(console, "yes"))
		return true;
	result = console_query(console,
	    "select current_database(), count(*) from wf.instance_v", err);
	if (result == NULL) {
		*code = EXIT_FAILED;
		return false;
	}
	question = xasprintf("remove the workspace in database \"%s\" with "
	                     "%s instances and their history?",
	    pg_value(result, 0, 0), pg_value(result, 0, 1));
	pg_result_free(result);
	if (!terminal_can_ask()) {
		*code = EXIT_USAGE;
		yes = false;
		error_set(err, "%s", question);
		error_hint(err, "With --yes it is done without asking.");
	} else if (!terminal_ask(question)) {
		*code = EXIT_FAILED;
		yes = false;
		error_set(err, "nothing was done");
	}
	free(question);
	return yes;
}

enum exit_code
cmd_workspace_uninstall(struct console *console, struct error *err)
{
	enum exit_code code = EXIT_USAGE;

	if (may_uninstall(console, &code, err))
		code = run_script(console, "uninstall.sql", "removed", err);
	return code;
}
