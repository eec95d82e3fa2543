/*
 * cmd_diff.c - what a version does, and what changed between two versions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/review.h"
#include "console/text.h"

/* A text on the terminal: nothing in it can move the cursor. */
static void
put_text(const struct console *console, const char *text)
{
	struct buf safe;

	buf_init(&safe, 0);
	text_add_safe(&safe, text, "\n\t");
	fputs(safe.data, console->out);
	buf_release(&safe);
}

/* print --------------------------------------------------------------------- */

static void
print_text(const struct console *console, const char *version, const char *text)
{
	static const struct column columns[] = {
		{ "workflow", VALUE_TEXT },
		{ "version", VALUE_NUMBER },
		{ "text", VALUE_TEXT },
	};
	struct output output;

	if (!console_is_script(console)) {
		put_text(console, text);
		return;
	}
	console_begin(console, &output, columns, 3);
	output_row(
	    &output, (const char *const[]){
	                 console_value(console, "WORKFLOW"), version, text });
	output_end(&output);
}

static bool
print_version(const struct console *console, const struct pg_result *rows,
    struct error *err)
{
	const char *workflow = console_value(console, "WORKFLOW");
	const char *version;
	char *what, *text;

	if (pg_rows(rows) == 0) {
		error_set(err, "there is no such version of %s", workflow);
		error_hint(
		    err, "`wf-console versions %s` lists them.", workflow);
		return false;
	}
	version = pg_value(rows, 0, 0);
	what = xasprintf("%s version %s", workflow, version);
	text = review_text(what, pg_value(rows, 0, 1), NULL, err);
	if (text != NULL)
		print_text(console, version, text);
	free(text);
	free(what);
	return text != NULL;
}

enum exit_code
cmd_print(struct console *console, struct error *err)
{
	struct pg_result *rows =
	    console_query(console, console->invocation.command->sql, err);
	bool ok = rows != NULL && print_version(console, rows, err);

	pg_result_free(rows);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

/* diff ---------------------------------------------------------------------- */

/* The two versions: those that were named, or the last two. */
static const char versions_sql[] =
    "with chosen as ("
    "    select v.version, v.tree"
    "      from wf.version_v v"
    "     where v.workflow = :workflow"
    "       and (:first is null or v.version in (:first, coalesce(:second,"
    "            (select max(x.version) from wf.version_v x"
    "              where x.workflow = :workflow))))"
    "     order by v.version desc limit 2"
    ")"
    "select a.version as from_version, b.version as to_version,"
    "       a.tree as from_tree, b.tree as to_tree"
    "  from chosen a join chosen b on b.version > a.version";

static void
print_diff(const struct console *console, const struct pg_result *rows,
    const char *diff)
{
	static const struct column columns[] = {
		{ "workflow", VALUE_TEXT },
		{ "from_version", VALUE_NUMBER },
		{ "to_version", VALUE_NUMBER },
		{ "diff", VALUE_TEXT },
	};
	struct output output;

	if (console_is_script(console)) {
		console_begin(console, &output, columns, 4);
		output_row(&output,
		    (const char *const[]){ console_value(console, "WORKFLOW"),
		        pg_value(rows, 0, 0), pg_value(rows, 0, 1), diff });
		output_end(&output);
		return;
	}
	put_text(console, diff);
	if (diff[0] == '\0')
		console_note(console, "they are the same, lines apart");
}

static bool
show(const struct console *console, const struct pg_result *rows,
    struct error *err)
{
	const char *workflow = console_value(console, "WORKFLOW");
	char *labels[2], *texts[2] = { NULL, NULL };
	struct buf diff;
	bool ok = true;
	int i;

	for (i = 0; i < 2; i++) {
		labels[i] =
		    xasprintf("%s version %s", workflow, pg_value(rows, 0, i));
		if (ok)
			texts[i] = review_text(
			    labels[i], pg_value(rows, 0, 2 + i), NULL, err);
		ok = texts[i] != NULL;
	}
	buf_init(&diff, 0);
	ok = ok && review_diff((const char *const *)texts,
	               (const char *const *)labels, &diff, err);
	if (ok)
		print_diff(console, rows, diff.data);
	buf_release(&diff);
	for (i = 0; i < 2; i++) {
		free(labels[i]);
		free(texts[i]);
	}
	return ok;
}

/* Give the versions to the query, the older one first. */
static bool
choose(struct console *console, struct error *err)
{
	struct invocation *invocation = &console->invocation;
	size_t at = 0;
	const char *first = invocation_next(invocation, "VERSION", &at);
	const char *second = invocation_next(invocation, "VERSION", &at);

	if (invocation_next(invocation, "VERSION", &at) != NULL) {
		error_set(err, "at most two versions can be compared");
		return false;
	}
	invocation_add(invocation, "first", "VERSION", first);
	invocation_add(invocation, "second", "VERSION", second);
	return true;
}

enum exit_code
cmd_diff(struct console *console, struct error *err)
{
	struct pg_result *rows;
	bool ok;

	if (!choose(console, err))
		return EXIT_USAGE;
	rows = console_query(console, versions_sql, err);
	if (rows == NULL)
		return EXIT_FAILED;
	ok = pg_rows(rows) > 0;
	if (ok)
		ok = show(console, rows, err);
	else {
		error_set(err, "there are no two such versions of %s",
		    console_value(console, "WORKFLOW"));
		error_hint(err, "`wf-console versions %s` lists them.",
		    console_value(console, "WORKFLOW"));
	}
	pg_result_free(rows);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
