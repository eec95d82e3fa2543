/*
 * cmd_verify.c - whether a source is the text of what runs.
 */
#include <stdio.h>
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
#include "console/lang/lang.h"
#include "console/review.h"
#include "console/text.h"

/* The rows so far, and the differences, which are printed after them. */
struct verification {
	struct console *console;
	struct output output;
	struct buf diffs;
	bool all_good;
};

/* A version, and the text to compare it with. */
struct subject {
	const char *workflow, *version, *tree;
	const char *against;  /* `source`, or a file */
	const char *compiled; /* its tree */
};

static void
add_row(struct verification *verification, const struct subject *subject,
    const char *verdict, const char *detail, const char *diff)
{
	output_row(&verification->output,
	    (const char *const[]){ subject->workflow, subject->version,
	        subject->against, verdict, detail, diff });
	if (diff != NULL)
		text_add_safe(&verification->diffs, diff, "\n\t");
	if (strcmp(verdict, "verified") != 0)
		verification->all_good = false;
}

/* Comparing ------------------------------------------------------------------ */

/*
 * Compare both as text; it stays empty if one of them can't be written as text.
 */
static void
add_diff(const struct subject *subject, struct buf *diff)
{
	char *labels[2] = { xasprintf("%s version %s, %s", subject->workflow,
		                subject->version, subject->against),
		xasprintf("%s version %s, as it runs", subject->workflow,
		    subject->version) };
	const char *trees[2] = { subject->compiled, subject->tree };
	char *texts[2] = { NULL, NULL };
	struct error ignored = { 0 };
	struct lang_result result;
	int i;

	for (i = 0; i < 2; i++) {
		result = (struct lang_result){ 0 };
		texts[i] = lang_print(labels[i], trees[i], strlen(trees[i]),
		    subject->workflow, &result);
		lang_result_release(&result);
	}
	if (texts[0] != NULL && texts[1] != NULL)
		review_diff((const char *const *)texts,
		    (const char *const *)labels, diff, &ignored);
	error_release(&ignored);
	for (i = 0; i < 2; i++) {
		free(texts[i]);
		free(labels[i]);
	}
}

static void
compare(struct verification *verification, const struct subject *subject)
{
	struct lang_result result = { 0 };
	struct buf diff;

	buf_init(&diff, 0);
	if (lang_same(
	        subject->workflow, subject->tree, subject->compiled, &result)) {
		add_row(verification, subject, "verified", NULL, NULL);
	} else {
		add_diff(subject, &diff);
		add_row(verification, subject, "differs",
		    result.diagnostics[0].message, diff.data);
	}
	buf_release(&diff);
	lang_result_release(&result);
}

/* Sources --------------------------------------------------------------------- */

/* `main` has the name of its file; that may be this workflow or another one. */
static char *
compile_source(const struct console *console, const char *workflow,
    const char *source, struct lang_result *result)
{
	char *own = xasprintf("%s.wf", workflow), *tree;
	struct lang_options options;

	compile_options(console, &options);
	tree = lang_compile(own, source, strlen(source), &options, result);
	if (tree == NULL) {
		lang_result_release(result);
		*result = (struct lang_result){ 0 };
		tree = lang_compile(
		    "source.wf", source, strlen(source), &options, result);
	}
	compile_options_release(&options);
	free(own);
	return tree;
}

static void
verify_source(struct verification *verification, struct subject *subject,
    const char *source)
{
	struct lang_result result = { 0 };
	char *compiled = compile_source(
	    verification->console, subject->workflow, source, &result);
	char *why;

	subject->against = "source";
	subject->compiled = compiled;
	if (compiled != NULL) {
		compare(verification, subject);
	} else {
		why = xasprintf("line %d: %s", result.diagnostics[0].line,
		    result.diagnostics[0].message);
		add_row(verification, subject, "unverified", why, NULL);
		free(why);
	}
	free(compiled);
	lang_result_release(&result);
}

/*
 * The versions of a workflow, or of all workflows: all, or only those in use.
 */
static struct pg_result *
find_versions(struct console *console, const char *workflow, bool present,
    struct error *err)
{
	struct pg_result *rows;

	invocation_add(&console->invocation, "verified", "TEXT", workflow);
	invocation_add(
	    &console->invocation, "present", "TEXT", present ? "t" : "f");
	rows = console_query(console, console->invocation.command->sql, err);
	invocation_drop(&console->invocation, 2);
	return rows;
}

static bool
verify_workflow(
    struct verification *verification, const char *workflow, struct error *err)
{
	struct pg_result *rows = find_versions(
	    verification->console, workflow, workflow == NULL, err);
	struct subject subject;
	int row;

	for (row = 0; rows != NULL && row < pg_rows(rows); row++) {
		subject = (struct subject){ .workflow = pg_value(rows, row, 0),
			.version = pg_value(rows, row, 1),
			.tree = pg_value(rows, row, 3) };
		verify_source(verification, &subject, pg_value(rows, row, 2));
	}
	if (rows != NULL && workflow != NULL && pg_rows(rows) == 0) {
		error_set(err, "there is no workflow %s", workflow);
		error_hint(err, "`wf-console workflows` lists them; a file is "
		                "named *.wf, or with a slash.");
	}
	pg_result_free(rows);
	return err->message == NULL;
}

/* Files ------------------------------------------------------------------------- */

static bool
verify_in_file(struct verification *verification, const char *path,
    const char *workflow, const char *compiled, struct error *err)
{
	struct subject subject = {
		.workflow = workflow, .against = path, .compiled = compiled
	};
	struct pg_result *rows =
	    find_versions(verification->console, workflow, true, err);

	if (rows == NULL)
		return false;
	if (pg_rows(rows) == 0) {
		add_row(verification, &subject, "not installed", NULL, NULL);
	} else {
		subject.version = pg_value(rows, 0, 1);
		subject.tree = pg_value(rows, 0, 3);
		compare(verification, &subject);
	}
	pg_result_free(rows);
	return true;
}

static bool
verify_file(
    struct verification *verification, const char *path, struct error *err)
{
	const struct json *list;
	struct compiled compiled;
	struct json *spec = NULL;
	size_t i;
	bool ok = compile_file(verification->console, path, &compiled, err) &&
	          json_parse(compiled.spec, strlen(compiled.spec), &spec, err);

	list = json_get(spec, "workflows");
	for (i = 0; ok && i < json_length(list); i++)
		ok = verify_in_file(verification, path,
		    json_string(json_get(json_at(list, i), "name")),
		    compiled.spec, err);
	json_free(spec);
	compiled_release(&compiled);
	return ok;
}

static bool
verify_all(struct verification *verification, struct error *err)
{
	const struct invocation *invocation =
	    &verification->console->invocation;
	const char *what;
	size_t at = 0;
	bool ok = true;

	if (invocation_value(invocation, "WHAT") == NULL)
		return verify_workflow(verification, NULL, err);
	while (ok && (what = invocation_next(invocation, "WHAT", &at)) != NULL)
		ok = compile_is_file(what)
		         ? verify_file(verification, what, err)
		         : verify_workflow(verification, what, err);
	return ok;
}

enum exit_code
cmd_verify(struct console *console, struct error *err)
{
	static const struct column columns[] = {
		{ "workflow", VALUE_TEXT },
		{ "version", VALUE_NUMBER },
		{ "against", VALUE_TEXT },
		{ "verdict", VALUE_TEXT },
		{ "detail", VALUE_TEXT },
		{ "diff", VALUE_TEXT },
	};
	struct verification verification = { .console = console,
		.all_good = true };
	bool ok;

	buf_init(&verification.diffs, 0);
	console_begin(console, &verification.output, columns, 6);
	ok = verify_all(&verification, err);
	output_end(&verification.output);
	if (!console_is_script(console) && verification.diffs.len > 0)
		fprintf(console->out, "\n%s", verification.diffs.data);
	buf_release(&verification.diffs);
	return ok && verification.all_good ? EXIT_DONE : EXIT_FAILED;
}
