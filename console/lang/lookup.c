/* Find the declaration that a name means. */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/diagnostic.h"
#include "console/lang/lang.h"
#include "console/lang/module.h"
#include "console/lang/source.h"
#include "console/lang/stdlib.h"

struct search {
	struct program *program;
	const char *wanted;
	struct decl *found, *other;
	struct suggestion *near; /* NULL: only the name itself counts */
};

static void
offer(struct search *search, struct decl *decl, const char *name)
{
	if (search->near)
		suggestion_offer(search->near, name, strlen(name));
	if (strcmp(name, search->wanted) != 0 || decl == search->found)
		return;
	if (search->found)
		search->other = decl;
	else
		search->found = decl;
}

static void
search_file(struct search *search, struct module *module)
{
	struct decl *decl;

	for (decl = module->file->decls; decl; decl = decl->next) {
		offer(search, decl, decl->name.text);
		if (module->name &&
		    strcmp(decl->name.text, decl->full_name) != 0)
			offer(search, decl, decl->full_name);
	}
}

/* Whether a name belongs to a module: a.b.C to a.b */
static bool
is_in(const char *name, const char *module)
{
	size_t len = strlen(module);

	return strncmp(name, module, len) == 0 && name[len] == '.';
}

/* A declaration of an imported module, by the name that `as` gives it. */
static void
search_import(struct search *search, const struct link *link)
{
	struct decl *decl;
	const char *name;

	for (decl = link->module->file->decls; decl; decl = decl->next) {
		if (decl->is_main)
			continue;
		name = decl->full_name;
		if (is_in(name, link->module->name))
			name = arena_printf(search->program->arena, "%s%s",
			    link->prefix, name + strlen(link->module->name));
		offer(search, decl, name);
	}
}

static void
search_module(struct search *search, struct module *module)
{
	struct decl *decl;

	if (!module)
		return;
	for (decl = module->file->decls; decl; decl = decl->next)
		offer(search, decl, decl->full_name);
}

/* a.b.C may be declared by the module a.b, or by a. */
static void
search_libraries(struct search *search)
{
	struct program *program = search->program;
	const char *const *folder;
	const char *dot, *name;

	for (dot = strchr(search->wanted, '.'); dot;
	     dot = strchr(dot + 1, '.')) {
		name = arena_strndup(program->arena, search->wanted,
		    (size_t)(dot - search->wanted));
		search_module(search, module_builtin(program, name));
		folder = program->options->libraries;
		for (; folder && *folder; folder++)
			search_module(
			    search, module_library(program, *folder, name));
	}
}

/* File, imports, standard library: the first level that has the name. */
static void
search_all(struct search *search, struct module *module)
{
	const struct link *link = module->links;

	search_file(search, module);
	if (search->found)
		return;
	for (; link; link = link->next)
		if (link->module)
			search_import(search, link);
	if (!search->found)
		search_libraries(search);
}

/* The name belongs to an import for which an error was reported. */
static bool
is_explained(const struct module *module, const char *name)
{
	const struct link *link;

	for (link = module->links; link; link = link->next)
		if (!link->module && is_in(name, link->prefix))
			return true;
	return false;
}

/* No name is similar: perhaps the part before the dot was meant otherwise. */
static void
suggest_library(struct program *program, const char *name)
{
	const struct lang_library *library;
	const char *dot = strchr(name, '.');
	struct suggestion suggestion;

	if (!dot)
		return;
	suggestion_init(&suggestion,
	    arena_strndup(program->arena, name, (size_t)(dot - name)));
	for (library = lang_stdlib; library->name; library++)
		suggestion_offer(
		    &suggestion, library->name, strlen(library->name));
	if (!suggestion.best)
		report_hint(
		    program->result, "Import the file that declares it.");
	else if (suggestion.edits > 0)
		report_hint(program->result, "Did you mean `%s%s`?",
		    suggestion.best, dot);
	else
		report_hint(program->result,
		    "The standard library does not have it; -L names a folder "
		    "of task types that does.");
}

static void
report_unknown(
    struct program *program, struct module *module, const struct name *name)
{
	struct suggestion suggestion;
	struct search search = { program, name->text, NULL, NULL, &suggestion };

	if (is_explained(module, name->text))
		return;
	report(program->result, module->source, name->start,
	    "there is no task or workflow `%s`", name->text);
	if (program->result->left_out)
		return;
	suggestion_init(&suggestion, name->text);
	search_all(&search, module);
	if (suggestion.best)
		report_hint(
		    program->result, "Did you mean `%s`?", suggestion.best);
	else
		suggest_library(program, name->text);
}

struct decl *
program_find(
    struct program *program, struct module *module, const struct name *name)
{
	struct search search = { program, name->text, NULL, NULL, NULL };

	search_all(&search, module);
	if (search.other) {
		report(program->result, module->source, name->start,
		    "`%s` is declared twice: in %s and in %s", name->text,
		    search.found->module->source->path,
		    search.other->module->source->path);
		return NULL;
	}
	if (!search.found)
		report_unknown(program, module, name);
	return search.found;
}
