/*
 * cmd_check.c - check and fmt: commands that need the language and no database.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/lang/lang.h"

/* check ------------------------------------------------------------------ */

static void
print_diagnostics(struct output *output, const struct lang_result *result)
{
	const struct lang_diagnostic *d;
	char line[12], column[12];
	size_t i;

	for (i = 0; i < result->length; i++) {
		d = &result->diagnostics[i];
		snprintf(line, sizeof(line), "%d", d->line);
		snprintf(column, sizeof(column), "%d", d->column);
		output_row(output, (const char *const[]){ d->file, line, column,
		                       d->message, d->hint });
	}
}

/* For editors: with -o json each error is a row. */
enum exit_code
cmd_check(struct console *console, struct error *err)
{
	static const struct column columns[] = {
		{ "file", VALUE_TEXT },
		{ "line", VALUE_NUMBER },
		{ "column", VALUE_NUMBER },
		{ "message", VALUE_TEXT },
		{ "hint", VALUE_TEXT },
	};
	enum exit_code code = EXIT_DONE;
	struct lang_options options;
	struct output output;
	const char *path;
	size_t at = 0;

	(void)err;
	compile_options(console, &options);
	if (console_is_script(console))
		console_begin(console, &output, columns, 5);
	while ((path = invocation_next(&console->invocation, "FILE", &at)) !=
	       NULL) {
		struct lang_result result = { 0 };
		char *text = NULL;
		size_t len;

		if (!lang_read(path, &text, &len, &result) ||
		    !lang_check(path, text, len, &options, &result))
			code = EXIT_FAILED;
		if (console_is_script(console))
			print_diagnostics(&output, &result);
		else
			lang_result_print(&result, stderr);
		lang_result_release(&result);
		free(text);
	}
	if (console_is_script(console))
		output_end(&output);
	compile_options_release(&options);
	return code;
}

/* fmt -------------------------------------------------------------------- */

static bool
write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	return write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
}

/*
 * Write all or nothing: a new file beside the old one takes its place.  A link
 * stays: the file that it leads to is replaced.
 */
static bool
replace_file(const char *path, const char *text, struct error *err)
{
	char *real = realpath(path, NULL);
	char *beside = xasprintf("%s.XXXXXX", real != NULL ? real : path);
	struct stat old;
	bool ok = false;
	int fd = -1;

	if (real != NULL && stat(real, &old) == 0)
		fd = mkostemp(beside, O_CLOEXEC);
	if (fd >= 0) {
		ok =
		    fchmod(fd, old.st_mode & 07777) == 0 && write_all(fd, text);
		ok = close(fd) == 0 && ok && rename(beside, real) == 0;
	}
	if (!ok)
		error_set_errno(err, "cannot write %s", path);
	if (!ok && fd >= 0)
		unlink(beside);
	free(beside);
	free(real);
	return ok;
}

/* Print a file that has been laid out, or write it, or print only its name. */
static enum exit_code
deliver(const struct console *console, const char *path, const char *old,
    const char *text, struct error *err)
{
	bool is_same = strcmp(old, text) == 0;

	if (console_flag(console, "check")) {
		if (!is_same)
			fprintf(console->out, "%s\n", path);
		return is_same ? EXIT_DONE : EXIT_FAILED;
	}
	if (console_flag(console, "write"))
		return is_same || replace_file(path, text, err) ? EXIT_DONE
		                                                : EXIT_FAILED;
	fputs(text, console->out);
	return EXIT_DONE;
}

enum exit_code
cmd_fmt(struct console *console, struct error *err)
{
	enum exit_code code = EXIT_DONE;
	const char *path;
	size_t at = 0;

	while (err->message == NULL &&
	       (path = invocation_next(&console->invocation, "FILE", &at)) !=
	           NULL) {
		struct lang_result result = { 0 };
		char *old = NULL, *text = NULL;
		size_t len;

		if (lang_read(path, &old, &len, &result))
			text = lang_format(path, old, len, &result);
		if (text == NULL ||
		    deliver(console, path, old, text, err) != EXIT_DONE)
			code = EXIT_FAILED;
		lang_result_print(&result, stderr);
		lang_result_release(&result);
		free(text);
		free(old);
	}
	return code;
}
