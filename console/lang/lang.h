/*
 * lang.h - the language: text in, compiled tree (docs/spec.md) out.
 *
 * Everything under console/lang stands behind the functions of this header.  It
 * knows nothing of databases or terminals: it gets text, reads imported files,
 * and reports errors.
 */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;

enum {
	LANG_SOURCE_MAX = 1 << 20, /* bytes of one source file */
	LANG_DIAGNOSTICS_MAX = 20, /* reported at once */
};

/* One error.  The strings belong to the result. */
struct lang_diagnostic {
	const char *file;
	int line;   /* 1-based; 0 if the error has no line */
	int column; /* 1-based, in characters */
	const char *message;
	const char *hint;        /* NULL: none */
	const char *source_line; /* the line of the error; NULL: none */
	int order;               /* of the file in the compilation */
};

/*
 * The diagnostics of a call, in the order of files and lines.  Start with
 * `struct lang_result result = { 0 };`, end with lang_result_release().
 */
struct lang_result {
	struct lang_diagnostic diagnostics[LANG_DIAGNOSTICS_MAX];
	size_t length;
	size_t left_out; /* errors beyond LANG_DIAGNOSTICS_MAX */
	struct arena *arena;
};

/* Both lists are NULL-terminated and may be NULL. */
struct lang_options {
	/* where `import a.b` looks for a/b.wf; none: the file's directory */
	const char *const *roots;
	/* folders that extend the standard library: a/b.wf there declares
	 * what a.b.Name means in every file, without an import */
	const char *const *libraries;
};

/*
 * Each of these functions takes the `len` bytes of `text` (any bytes) as the
 * contents of the file `path`.  The path is used in messages, to find imports,
 * and to name `main` (the `main` of dir/hello.wf is the workflow `hello`).
 * `options` may be NULL. Each returns false or NULL if, and only if, there are
 * diagnostics in `result`.
 */

/* Check a file; a file with task types only (a library) is fine. */
bool lang_check(const char *path, const char *text, size_t len,
    const struct lang_options *options, struct lang_result *result);

/* Compile to the JSON text of docs/spec.md.  The caller frees it. */
char *lang_compile(const char *path, const char *text, size_t len,
    const struct lang_options *options, struct lang_result *result);

/* The one canonical layout.  Only the syntax must be right; names and types are
 * not checked.  The caller frees it. */
char *lang_format(
    const char *path, const char *text, size_t len, struct lang_result *result);

/*
 * The text of a tree, which lang_compile() gave or wf.version_v.tree holds, or
 * of one workflow in it, `only`.  It is laid out.  It was compiled and compared
 * with the tree: both say the same, except for lines and comments.  The caller
 * frees it.
 */
char *lang_print(const char *path, const char *tree, size_t len,
    const char *only, struct lang_result *result);

/*
 * Whether the workflows of a tree are in another tree, and are the same there
 * except for lines.  If not, the first difference is reported; `path` is that
 * of the tree.
 */
bool lang_same(const char *path, const char *tree, const char *other,
    struct lang_result *result);

/* The compiled form of a task type of the standard library, for the caller to
 * free(); NULL if it has none of that name. */
char *lang_builtin_type(const char *name);

/*
 * The name of the workflow that `main` of a file is: "hello_world" for
 * dir/hello-world.wf.  The caller frees it.
 */
char *lang_main_name(const char *path);

/*
 * The contents of a file, up to LANG_SOURCE_MAX bytes.  The caller frees
 * `*text`.  False with a diagnostic if it can not be read.
 */
bool lang_read(
    const char *path, char **text, size_t *len, struct lang_result *result);

/* Print all as `file:line:column: error: message`, the source line, a caret,
 * and `hint: …`. */
void lang_result_print(const struct lang_result *result, FILE *out);

void lang_result_release(struct lang_result *result);

#endif
