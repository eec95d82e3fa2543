#include "console/compile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "console/console.h"
#include "console/lang/lang.h"

/* A list of strings of its own, NULL-terminated; NULL if it is empty. */
struct list {
	char **items;
	size_t count;
};

static void
list_add(struct list *list, const char *text, size_t len)
{
	list->items =
	    xreallocarray(list->items, list->count + 2, sizeof(*list->items));
	list->items[list->count++] = xstrndup(text, len);
	list->items[list->count] = NULL;
}

/* Add all values of an option. */
static void
add_option(struct list *list, const struct console *console, const char *name)
{
	const char *value;
	size_t at = 0;

	while (
	    (value = invocation_next(&console->invocation, name, &at)) != NULL)
		list_add(list, value, strlen(value));
}

/* Add the parts of a list like PATH; an empty part counts for nothing. */
static void
add_variable(struct list *list, const char *name)
{
	const char *at = getenv(name);
	size_t len;

	for (; at != NULL && *at != '\0'; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if (len > 0)
			list_add(list, at, len);
	}
}

static void
list_free(const char *const *items)
{
	size_t i;

	for (i = 0; items != NULL && items[i] != NULL; i++)
		free((void *)(uintptr_t)items[i]);
	free((void *)(uintptr_t)items);
}

void
compile_options(const struct console *console, struct lang_options *options)
{
	struct list roots = { 0 }, libraries = { 0 };

	add_option(&roots, console, "import");
	add_option(&libraries, console, "library");
	add_variable(&libraries, "WF_LIBRARY");
	options->roots = (const char *const *)roots.items;
	options->libraries = (const char *const *)libraries.items;
}

void
compile_options_release(struct lang_options *options)
{
	list_free(options->roots);
	list_free(options->libraries);
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
