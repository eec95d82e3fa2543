/*
 * cmd_diff.c - what changed in the source between two versions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/child.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/memory_file.h"
#include "console/text.h"

/* Two versions: those that were named, or the last ones. */
static const char versions_sql[] =
    "with chosen as ("
    "    select v.version, v.source"
    "      from wf.version_v v"
    "     where v.workflow = :workflow"
    "       and (:first is null or v.version in (:first, coalesce(:second,"
    "            (select max(x.version) from wf.version_v x"
    "              where x.workflow = :workflow))))"
    "     order by v.version desc limit 2"
    ")"
    "select a.version as from_version, b.version as to_version,"
    "       a.source as from_source, b.source as to_source"
    "  from chosen a join chosen b on b.version > a.version";

/* What `diff -u` has to say about two texts; its labels say what they are. */
static bool
compare(const char *const *texts, char *const *labels, struct buf *output,
    struct error *err)
{
	int fds[2] = { memory_file_make(texts[0], err),
		memory_file_make(texts[1], err) };
	char *paths[2] = { xasprintf("/proc/self/fd/%d", fds[0]),
		xasprintf("/proc/self/fd/%d", fds[1]) };
	const char *argv[] = { "diff", "-u", "--label", labels[0], "--label",
		labels[1], paths[0], paths[1], NULL };
	int status = 2, i;
	bool ok =
	    fds[0] >= 0 && fds[1] >= 0 && child_ask(argv, output, &status, err);

	for (i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		free(paths[i]);
	}
	if (ok && status > 1) {
		error_set(err, "%s", output->data);
		ok = false;
	}
	return ok;
}

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
	struct buf safe;

	if (console_is_script(console)) {
		console_begin(console, &output, columns, 4);
		output_row(&output,
		    (const char *const[]){ console_value(console, "WORKFLOW"),
		        pg_value(rows, 0, 0), pg_value(rows, 0, 1), diff });
		output_end(&output);
		return;
	}
	buf_init(&safe, 0);
	text_add_safe(&safe, diff, "\n\t");
	fputs(safe.data, stdout);
	buf_release(&safe);
	if (diff[0] == '\0')
		console_note(console, "the source is the same");
}

static bool
show(const struct console *console, const struct pg_result *rows,
    struct error *err)
{
	const char *workflow = console_value(console, "WORKFLOW");
	const char *texts[2] = { pg_value(rows, 0, 2), pg_value(rows, 0, 3) };
	char *labels[2] = { xasprintf("%s version %s", workflow,
		                pg_value(rows, 0, 0)),
		xasprintf("%s version %s", workflow, pg_value(rows, 0, 1)) };
	struct buf diff;
	bool ok;

	buf_init(&diff, 0);
	ok = compare(texts, labels, &diff, err);
	if (ok)
		print_diff(console, rows, diff.data);
	buf_release(&diff);
	free(labels[0]);
	free(labels[1]);
	return ok;
}

/* Hand the versions to the query, the older one first. */
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
