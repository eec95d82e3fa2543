/*
 * cmd_start.c - start and run.
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
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/parameters.h"
#include "console/session.h"
#include "console/start.h"

/*
 * What the workflow declares; NULL if that can't be seen (wf_app need not
 * see definitions) or it is not installed, which wf.start says better.
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

bool
start_instance(struct console *console, const char *workflow, int64_t *instance,
    struct error *err)
{
	struct json *declared = declared_parameters(console, workflow);
	char *parameters = parameters_json(&console->invocation, declared, err);
	struct pg_result *result = NULL;

	json_free(declared);
	if (parameters != NULL) {
		invocation_add(
		    &console->invocation, "workflow", "WORKFLOW", workflow);
		invocation_add(
		    &console->invocation, "parameters", "OBJECT", parameters);
		result = console_query(console,
		    "select wf.start(:workflow, :parameters, :key,"
		    " coalesce(:priority, 0), coalesce(:tag, '{}'))",
		    err);
		invocation_drop(&console->invocation, 2);
	}
	if (result != NULL)
		*instance = pg_value_bigint(result, 0, 0);
	pg_result_free(result);
	free(parameters);
	return result != NULL;
}

static enum exit_code
print_started(
    const struct console *console, const char *workflow, int64_t instance)
{
	static const struct column columns[] = {
		{ "instance_id", VALUE_NUMBER },
		{ "workflow", VALUE_TEXT },
	};
	char *id = xasprintf("%" PRId64, instance);
	struct output output;

	console_begin(console, &output, columns, 2);
	output_row(&output, (const char *const[]){ id, workflow });
	output_end(&output);
	free(id);
	return EXIT_DONE;
}

enum exit_code
cmd_start(struct console *console, struct error *err)
{
	const char *workflow = console_value(console, "WORKFLOW");
	int64_t instance;

	if (!start_instance(console, workflow, &instance, err))
		return EXIT_FAILED;
	if (!console_flag(console, "wait"))
		return print_started(console, workflow, instance);
	return follow_instance(console, instance, FOLLOW_QUIETLY, err);
}

/* The name of `main` is that of its file: "hello" for dir/hello.wf. */
static char *
main_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	return xstrndup(name, strcspn(name, "."));
}

/* Which of the installed workflows is meant: for the caller to free(). */
static char *
choose_workflow(
    const struct pg_result *installed, const char *path, struct error *err)
{
	char *name = main_name(path);
	int row;

	for (row = 0; row < pg_rows(installed); row++)
		if (pg_rows(installed) == 1 ||
		    strcmp(pg_value(installed, row, 0), name) == 0) {
			free(name);
			return xstrdup(pg_value(installed, row, 0));
		}
	free(name);
	error_set(err, "%s holds %d workflows and none is main", path,
	    pg_rows(installed));
	if (pg_rows(installed) > 0)
		error_hint(err, "Name one: wf-console run %s %s", path,
		    pg_value(installed, 0, 0));
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
		name = workflow != NULL ? xstrdup(workflow)
		                        : choose_workflow(installed, path, err);
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
