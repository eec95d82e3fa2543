/*
 * cmd_start.c - start, wait and run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "common/suggestion.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/lang/lang.h"
#include "console/parameters.h"
#include "console/session.h"
#include "console/start.h"

/*
 * The declared parameters; NULL if the login may not see them (wf_app need not
 * see definitions) or the workflow is not installed: wf.start reports that
 * better.
 */
static struct json *
declared_parameters(const struct console *console, const char *workflow)
{
	struct error ignored = { 0 };
	struct json *declared = NULL;
	struct pg_result *result;
	struct pg_params params;

	pg_params_init(&params);
	pg_params_add(&params, workflow);
	result = pg_query(console->pg,
	    "select params from wf.workflow_v where workflow = $1", &params,
	    &ignored);
	if (result != NULL && pg_rows(result) == 1)
		json_parse(pg_value(result, 0, 0),
		    pg_value_length(result, 0, 0), &declared, &ignored);
	pg_result_free(result);
	pg_params_release(&params);
	error_release(&ignored);
	return declared;
}

char *
start_parameters(
    const struct console *console, const char *workflow, struct error *err)
{
	struct json *declared = declared_parameters(console, workflow);
	char *parameters = parameters_json(&console->invocation, declared, err);

	json_free(declared);
	return parameters;
}

bool
start_instance(struct console *console, const char *workflow, int64_t *instance,
    struct error *err)
{
	char *parameters = start_parameters(console, workflow, err);
	struct pg_result *result = NULL;

	if (parameters != NULL) {
		invocation_add(
		    &console->invocation, "workflow", "WORKFLOW", workflow);
		invocation_add(
		    &console->invocation, "parameters", "OBJECT", parameters);
		result = console_query(console,
		    "select wf.start(:workflow, :parameters, :key,"
		    " coalesce(:priority, 0), coalesce(:tag, '{}'),"
		    " p_at => :at, p_before => :before)",
		    err);
		invocation_drop(&console->invocation, 2);
	}
	if (result != NULL)
		*instance = pg_value_bigint(result, 0, 0);
	pg_result_free(result);
	free(parameters);
	return result != NULL;
}

static void
print_started(
    const struct console *console, const char *workflow, int64_t instance)
{
	static const struct column columns[] = {
		{ "instance_id", VALUE_NUMBER },
		{ "workflow", VALUE_TEXT },
	};
	char *id = xasprintf("%" PRId64, instance);
	struct output output;

	if (console_flag(console, "quiet")) {
		fprintf(console->out, "%s\n", id);
	} else {
		console_begin(console, &output, columns, 2);
		output_row(&output, (const char *const[]){ id, workflow });
		output_end(&output);
	}
	free(id);
}

enum exit_code
cmd_start(struct console *console, struct error *err)
{
	const char *workflow = console_value(console, "WORKFLOW");
	int64_t instance;

	if ((console_flag(console, "timeout") ||
	        console_flag(console, "unattended")) &&
	    !console_flag(console, "wait")) {
		error_set(err, "--%s needs --wait",
		    console_flag(console, "timeout") ? "timeout"
		                                     : "unattended");
		return EXIT_USAGE;
	}
	if (console_flag(console, "quiet") && console_is_script(console)) {
		error_set(err, "--quiet prints a number, and -o %s prints rows",
		    console->format->name);
		error_hint(err, "Give one of them.");
		return EXIT_USAGE;
	}
	if (!start_instance(console, workflow, &instance, err))
		return EXIT_FAILED;
	if (console_flag(console, "quiet") || !console_flag(console, "wait"))
		print_started(console, workflow, instance);
	if (!console_flag(console, "wait"))
		return EXIT_DONE;
	fflush(console->out);
	return follow_instance(console, instance, FOLLOW_QUIETLY, err);
}

enum exit_code
cmd_wait(struct console *console, struct error *err)
{
	/* it tells the login which instance does not exist */
	struct pg_result *result =
	    console_query(console, console->invocation.command->sql, err);

	if (result == NULL)
		return EXIT_FAILED;
	pg_result_free(result);
	return follow_instance(console,
	    strtoll(console_value(console, "INSTANCE"), NULL, 10),
	    FOLLOW_QUIETLY, err);
}

static void
none_chosen(const struct pg_result *installed, const char *path,
    const char *wanted, struct error *err)
{
	int rows = pg_rows(installed), row;
	struct suggestion suggestion;

	suggestion_init(&suggestion, wanted != NULL ? wanted : "");
	for (row = 0; wanted != NULL && row < rows; row++)
		suggestion_offer(&suggestion, pg_value(installed, row, 0),
		    pg_value_length(installed, row, 0));
	if (wanted != NULL)
		error_set(err, "there is no workflow %s in %s", wanted, path);
	else
		error_set(
		    err, "%s holds %d workflows and none is main", path, rows);
	if (suggestion.best != NULL)
		error_hint(err, "Did you mean %s?", suggestion.best);
	else if (rows > 0)
		error_hint(err, "Name one, as %s.", pg_value(installed, 0, 0));
}

char *
start_choose(const struct pg_result *installed, const char *path,
    const char *wanted, struct error *err)
{
	char *name = wanted != NULL ? xstrdup(wanted) : lang_main_name(path);
	int rows = pg_rows(installed), row;
	const char *candidate;

	for (row = 0; row < rows; row++) {
		candidate = pg_value(installed, row, 0);
		if ((wanted == NULL && rows == 1) ||
		    strcmp(candidate, name) == 0) {
			free(name);
			return xstrdup(candidate);
		}
	}
	free(name);
	none_chosen(installed, path, wanted, err);
	return NULL;
}

enum exit_code
run_file(struct console *console, const char *path, const char *workflow,
    struct error *err)
{
	enum exit_code code = EXIT_FAILED;
	struct pg_result *installed = NULL;
	struct compiled compiled;
	char *name = NULL;
	int64_t instance;

	if (compile_file(console, path, &compiled, err) &&
	    (console->pg != NULL ||
	        session_open(console, NEEDS_WORKSPACE, err)) &&
	    (installed = compile_install(console, &compiled, err)) != NULL) {
		name = start_choose(installed, path, workflow, err);
		if (name != NULL &&
		    start_instance(console, name, &instance, err))
			code = follow_instance(
			    console, instance, FOLLOW_ALOUD, err);
	}
	free(name);
	pg_result_free(installed);
	compiled_release(&compiled);
	return code;
}

enum exit_code
cmd_run(struct console *console, struct error *err)
{
	return run_file(console, console_value(console, "FILE"),
	    console_value(console, "WORKFLOW"), err);
}
