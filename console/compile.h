/*
 * compile.h - workflow files, compiled and installed.
 */
#ifndef CONSOLE_COMPILE_H
#define CONSOLE_COMPILE_H

#include <stdbool.h>

struct console;
struct error;
struct lang_options;
struct pg_result;

/* A file that has been compiled; the strings are owned. */
struct compiled {
	char *source;
	char *spec; /* the tree of docs/spec.md */
};

/*
 * Read and compile `path` with --import and --library.  False if there are
 * errors: they have been printed on standard error, `err` sums them up.
 */
bool compile_file(const struct console *console, const char *path,
    struct compiled *compiled, struct error *err);

/* Whether `what` names a file (*.wf, or with a slash), and not a workflow. */
bool compile_is_file(const char *what);

void compiled_release(struct compiled *compiled);

/*
 * Install it: a row (workflow, version, answer) for each workflow in it, for
 * the caller to pg_result_free().  NULL on failure.
 */
struct pg_result *compile_install(struct console *console,
    const struct compiled *compiled, struct error *err);

/* --import, --library and then WF_LIBRARY, for the language. */
void compile_options(
    const struct console *console, struct lang_options *options);
void compile_options_release(struct lang_options *options);

#endif
