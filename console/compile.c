#include "console/compile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "console/console.h"
#include "console/lang/lang.h"

/* All values of an option, NULL-terminated; NULL if there are none. */
static const char **
collect(const struct console *console, const char *name)
{
	const char **values = NULL, *value;
	size_t at = 0, count = 0;

	while ((value = invocation_next(&console->invocation, name, &at)) !=
	       NULL) {
		values = xreallocarray(values, count + 2, sizeof(*values));
		values[count++] = value;
		values[count] = NULL;
	}
	return values;
}

void
compile_options(const struct console *console, struct lang_options *options)
{
	options->roots = collect(console, "import");
	options->libraries = collect(console, "library");
}

void
compile_options_release(struct lang_options *options)
{
	free((void *)(uintptr_t)options->roots);
	free((void *)(uintptr_t)options->libraries);
}

bool
compile_file(const struct console *console, const char *path,
    struct compiled *compiled, struct error *err)
{
	struct lang_result result = { 0 };
	struct lang_options options;
	size_t len, errors;

	compiled->source = compiled->spec = NULL;
	compile_options(console, &options);
	if (lang_read(path, &compiled->source, &len, &result))
		compiled->spec = lang_compile(
		    path, compiled->source, len, &options, &result);
	if (compiled->spec == NULL) {
		lang_result_print(&result, stderr);
		errors = result.length + result.left_out;
		error_set(err, "%s has %zu error%s", path, errors,
		    errors == 1 ? "" : "s");
	}
	lang_result_release(&result);
	compile_options_release(&options);
	return compiled->spec != NULL;
}

bool
compile_is_file(const char *what)
{
	size_t len = strlen(what);

	return strchr(what, '/') != NULL ||
	       (len > 3 && strcmp(what + len - 3, ".wf") == 0);
}

void
compiled_release(struct compiled *compiled)
{
	free(compiled->source);
	free(compiled->spec);
}

struct pg_result *
compile_install(
    struct console *console, const struct compiled *compiled, struct error *err)
{
	struct pg_result *answer;

	invocation_add(
	    &console->invocation, "source", "TEXT", compiled->source);
	invocation_add(&console->invocation, "spec", "JSON", compiled->spec);
	answer = console_query(console,
	    "select workflow, version, answer"
	    "  from wf.install(:source, :spec) order by workflow",
	    err);
	invocation_drop(&console->invocation, 2);
	return answer;
}
