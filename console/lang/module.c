#include "console/lang/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/diagnostic.h"
#include "console/lang/lang.h"
#include "console/lang/parse.h"
#include "console/lang/source.h"
#include "console/lang/stdlib.h"

/* dir/a/b.wf for the module a.b */
static char *
module_path(struct arena *arena, const char *dir, const char *name)
{
	char *path = arena_printf(arena, "%s/%s.wf", dir, name), *p;

	for (p = path + strlen(dir); p[3] != '\0'; p++)
		if (*p == '.')
			*p = '/';
	return path;
}

char *
lang_main_name(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name = xstrdup(base ? base + 1 : path), *p;

	if ((p = strrchr(name, '.')) && p != name)
		*p = '\0';
	for (p = name; *p; p++)
		if (*p == '-' || *p == ' ' || *p == '.')
			*p = '_';
	return name;
}

/* The name of `main` comes from the name of its file. */
static const char *
main_name(struct arena *arena, const char *path)
{
	char *name = lang_main_name(path);
	const char *copy = arena_strndup(arena, name, strlen(name));

	free(name);
	return copy;
}

/* The full name: as written, or after the module's name if it is one word. */
static const char *
full_name(struct program *program, struct module *module, struct decl *decl)
{
	if (decl->is_main)
		return main_name(program->arena, module->source->path);
	if (!module->name || strchr(decl->name.text, '.'))
		return decl->name.text;
	return arena_printf(
	    program->arena, "%s.%s", module->name, decl->name.text);
}

static void load_imports(struct program *program, struct module *module);

static struct module *
add_module(struct program *program, const char *name, struct source *source)
{
	struct module *module = arena_alloc(program->arena, sizeof(*module));
	struct module *other;
	struct decl *decl;

	for (other = program->modules; other; other = other->next)
		source->order++;
	module->name = name;
	module->source = source;
	*program->tail = module;
	program->tail = &module->next;
	module->file = parse(program->arena, source, program->result);
	program->broken |= module->file->broken;
	for (decl = module->file->decls; decl; decl = decl->next) {
		decl->module = module;
		decl->full_name = full_name(program, module, decl);
	}
	load_imports(program, module);
	program->loaded(program, module);
	return module;
}

/* The module from the file `path`, which is loaded at most once. */
static struct module *
load_file(struct program *program, const char *name, const char *path)
{
	struct module *module;
	struct source *source;
	char *text = NULL;
	size_t len = 0;

	for (module = program->modules; module; module = module->next)
		if (!module->builtin && module->name &&
		    strcmp(module->source->path, path) == 0)
			return module;
	if (!lang_read(path, &text, &len, program->result))
		return NULL;
	source = source_new(program->arena, path, text, len, program->result);
	free(text);
	return source ? add_module(program, name, source) : NULL;
}

struct module *
module_builtin(struct program *program, const char *name)
{
	const struct lang_library *library;
	struct module *module;
	struct source *source;

	for (library = lang_stdlib; library->name; library++)
		if (strcmp(library->name, name) == 0)
			break;
	if (!library->name)
		return NULL;
	for (module = program->modules; module; module = module->next)
		if (module->builtin && strcmp(module->name, name) == 0)
			return module;
	source = source_new(program->arena,
	    arena_printf(program->arena, "%s.wf", name), library->text,
	    strlen(library->text), program->result);
	if (!source)
		return NULL;
	module = add_module(program, library->name, source);
	module->builtin = true;
	return module;
}

static bool
file_exists(const char *path)
{
	return access(path, R_OK) == 0;
}

/* The folder of the file that is compiled. */
static const char *
own_folder(struct program *program)
{
	const char *path = program->modules->source->path;
	const char *slash = strrchr(path, '/');

	return slash
	           ? arena_strndup(program->arena, path, (size_t)(slash - path))
	           : ".";
}

static struct module *
find_import(
    struct program *program, struct module *module, struct import *import)
{
	const char *own[] = { own_folder(program), NULL };
	const char *const *root = program->options->roots;
	const char *path = NULL;

	for (root = root && *root ? root : own; *root; root++) {
		path = module_path(program->arena, *root, import->name.text);
		if (file_exists(path))
			return load_file(program, import->name.text, path);
	}
	report(program->result, module->source, import->name.start,
	    "there is no module `%s`", import->name.text);
	report_hint(program->result, "Looked for %s.", path);
	return NULL;
}

static void
load_imports(struct program *program, struct module *module)
{
	struct import *import;
	struct link **tail = &module->links, *link;
	struct module *other;

	for (import = module->file->imports; import; import = import->next) {
		other = find_import(program, module, import);
		link = arena_alloc(program->arena, sizeof(*link));
		link->module = other;
		link->prefix =
		    import->as.text ? import->as.text : import->name.text;
		*tail = link;
		tail = &link->next;
	}
}

struct module *
program_load(
    struct program *program, const char *path, const char *text, size_t len)
{
	struct source *source;

	source = source_new(program->arena, path, text, len, program->result);
	return source ? add_module(program, NULL, source) : NULL;
}

struct module *
module_library(struct program *program, const char *folder, const char *name)
{
	const char *path = module_path(program->arena, folder, name);

	return file_exists(path) ? load_file(program, name, path) : NULL;
}
