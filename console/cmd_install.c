/*
 * cmd_install.c - compile files and install them, all or none.
 */
#include <stdlib.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/session.h"

/* Compile every file, so that all errors are reported at once. */
static bool
compile_all(
    const struct console *console, struct compiled *files, struct error *err)
{
	const char *path;
	size_t at = 0, i = 0, bad = 0;

	while (
	    (path = invocation_next(&console->invocation, "FILE", &at)) != NULL)
		if (!compile_file(console, path, &files[i++], err))
			bad++;
	if (bad > 1)
		error_set(err, "%zu files have errors", bad);
	if (bad > 0)
		error_hint(err, "Nothing was installed.");
	return bad == 0;
}

static bool
install_all(struct console *console, const struct compiled *files, size_t count,
    struct error *err)
{
	static const struct column columns[] = {
		{ "workflow", VALUE_TEXT },
		{ "version", VALUE_NUMBER },
		{ "answer", VALUE_TEXT },
	};
	struct output output;
	struct pg_result **answers = xcalloc(count, sizeof(*answers));
	bool ok = session_begin(console, err);
	size_t i;
	int row;

	for (i = 0; ok && i < count; i++) {
		answers[i] = compile_install(console, &files[i], err);
		ok = answers[i] != NULL;
	}
	if (ok && !pg_script(console->pg, "commit", err)) {
		session_explain(console, err);
		ok = false;
	}
	if (ok)
		console_begin(console, &output, columns, 3);
	for (i = 0; i < count; i++) {
		for (row = 0; ok && row < pg_rows(answers[i]); row++)
			output_row(&output,
			    (const char *const[]){ pg_value(answers[i], row, 0),
			        pg_value(answers[i], row, 1),
			        pg_value(answers[i], row, 2) });
		pg_result_free(answers[i]);
	}
	if (ok)
		output_end(&output);
	free(answers);
	return ok;
}

static size_t
count_files(const struct console *console)
{
	size_t at = 0, count = 0;

	while (invocation_next(&console->invocation, "FILE", &at) != NULL)
		count++;
	return count;
}

enum exit_code
cmd_install(struct console *console, struct error *err)
{
	size_t count = count_files(console), i;
	struct compiled *files = xcalloc(count, sizeof(*files));
	bool ok = compile_all(console, files, err) &&
	          session_open(console, NEEDS_WORKSPACE, err) &&
	          install_all(console, files, count, err);

	for (i = 0; i < count; i++)
		compiled_release(&files[i]);
	free(files);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
