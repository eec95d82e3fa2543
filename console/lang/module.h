/*
 * module.h - the files of a compilation, and which declaration a name means.
 */
#ifndef LANG_MODULE_H
#define LANG_MODULE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct decl;
struct file;
struct lang_options;
struct lang_result;
struct name;
struct source;

/* `import a.b as c`, resolved */
struct link {
	struct link *next;
	const char *prefix; /* c, or a.b */
	/* NULL: the module is missing, and that was reported */
	struct module *module;
};

struct module {
	struct module *next; /* in the order of loading */
	const char *name;    /* a.b; NULL: the file that is compiled */
	const struct source *source;
	struct file *file;
	struct link *links;
	bool builtin; /* part of the program: we report its errors */
	bool checked;
};

struct program {
	struct arena *arena;
	struct lang_result *result;
	const struct lang_options *options;
	struct module *modules; /* the first one is compiled */
	struct module **tail;
	bool broken; /* a module could not be parsed */
	/* called once for each loaded module, to resolve its types */
	void (*loaded)(struct program *program, struct module *module);
};

/* Load the file that is compiled.  NULL if it can't even be read as text. */
struct module *program_load(
    struct program *program, const char *path, const char *text, size_t len);

/*
 * The module `name` of the standard library, or of a folder that extends it.
 * It is loaded when it is first needed.  NULL if there is none.
 */
struct module *module_builtin(struct program *program, const char *name);
struct module *module_library(
    struct program *program, const char *folder, const char *name);

/*
 * The declaration that `name` means in `module`: one of the file itself, of its
 * imports, of the standard library, in this order.  NULL, and reported, if
 * there is none, or if two on one of these levels could be meant.
 */
struct decl *program_find(
    struct program *program, struct module *module, const struct name *name);

#endif
