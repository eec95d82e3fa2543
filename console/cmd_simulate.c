/*
 * cmd_simulate.c - run a workflow in virtual time, installed or not, and leave
 * no trace.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/parameters.h"
#include "console/session.h"
#include "console/start.h"

/*
 * The file that --script names, as text, for the caller to free(); NULL if it
 * can't be used.
 */
static char *
read_script(const char *path, struct error *err)
{
	struct error cause = { 0 };
	struct buf content;
	struct json *script;
	char *text = NULL;

	buf_init(&content, PARAMETERS_FILE_MAX);
	if (parameters_read_file(path, &content, err)) {
		if (json_parse(content.data, content.len, &script, &cause)) {
			json_free(script);
			text = buf_take(&content);
		} else {
			error_set(err, "%s: %s", path, cause.message);
			error_hint(err, "A script is a JSON list of rules; "
			                "docs/console.md describes them.");
		}
	}
	error_release(&cause);
	buf_release(&content);
	return text;
}

/* The last row has the result. */
static enum exit_code
judge(const struct pg_result *rows, struct error *err)
{
	int last = pg_rows(rows) - 1, column = pg_column(rows, "detail");
	struct json *detail = NULL;
	const char *result = NULL;
	enum exit_code code;

	if (last >= 0 && json_parse(pg_value(rows, last, column),
	                     pg_value_length(rows, last, column), &detail, err))
		result = json_string(json_get(detail, "result"));
	code = start_exit_code(result);
	if (code == EXIT_FAILED && err->message == NULL) {
		error_set(err, "it does not come to its end by itself");
		error_hint(err, "The rows with event waits say why; the script "
		                "may have somebody act: \"then\": \"retry\".");
	}
	json_free(detail);
	return code;
}

static enum exit_code
play(struct console *console, const char *workflow, struct error *err)
{
	const char *path = console_value(console, "script");
	char *parameters = start_parameters(console, workflow, err);
	char *script = path != NULL ? read_script(path, err) : NULL;
	struct pg_result *rows = NULL;
	enum exit_code code = EXIT_FAILED;

	if (err->message == NULL) {
		invocation_add(
		    &console->invocation, "played", "WORKFLOW", workflow);
		invocation_add(
		    &console->invocation, "parameters", "OBJECT", parameters);
		invocation_add(&console->invocation, "rules", "JSON",
		    script != NULL ? script : "[]");
		rows = console_query(
		    console, console->invocation.command->sql, err);
		invocation_drop(&console->invocation, 3);
	}
	if (rows != NULL) {
		console_print(console, rows);
		code = judge(rows, err);
	}
	pg_result_free(rows);
	free(script);
	free(parameters);
	return code;
}

/* Installed for the simulation only. */
static enum exit_code
play_file(struct console *console, const char *path, struct error *err)
{
	struct pg_result *installed = NULL;
	enum exit_code code = EXIT_FAILED;
	struct compiled compiled;
	char *name = NULL;

	if (compile_file(console, path, &compiled, err) &&
	    session_open(console, NEEDS_WORKSPACE, err) &&
	    session_begin(console, err) &&
	    (installed = compile_install(console, &compiled, err)) != NULL &&
	    (name = start_choose(installed, path,
	         console_value(console, "WORKFLOW"), err)) != NULL)
		code = play(console, name, err);
	free(name);
	pg_result_free(installed);
	compiled_release(&compiled);
	return code;
}

enum exit_code
cmd_simulate(struct console *console, struct error *err)
{
	const char *what = console_value(console, "WHAT");

	/* the session ends with the command, and a transaction with it */
	if (compile_is_file(what))
		return play_file(console, what, err);
	if (console_value(console, "WORKFLOW") != NULL) {
		error_set(
		    err, "%s is not a file to choose a workflow from", what);
		error_hint(err, "A file ends with .wf or has a slash in it.");
		return EXIT_USAGE;
	}
	return session_open(console, NEEDS_WORKSPACE, err)
	           ? play(console, what, err)
	           : EXIT_FAILED;
}
