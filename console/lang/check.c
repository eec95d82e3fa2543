#include "console/lang/check.h"

#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/source.h"

static struct checker
checker_new(struct program *program, struct module *module)
{
	return (struct checker){
		.arena = program->arena,
		.result = program->result,
		.program = program,
		.module = module,
	};
}

/* A file may declare a name only once. */
static void
check_unique(struct checker *checker, struct decl *decl)
{
	const struct decl *other = checker->module->file->decls;

	for (; other != decl; other = other->next) {
		if (strcmp(other->full_name, decl->full_name) != 0)
			continue;
		COMPLAIN(checker, decl->name.start, "`%s` is declared twice",
		    decl->full_name);
		if (decl->is_main)
			HINT(checker, "`main` is called like its file.");
		return;
	}
}

void
check_loaded(struct program *program, struct module *module)
{
	struct checker checker = checker_new(program, module);
	struct decl *decl;

	for (decl = module->file->decls; decl; decl = decl->next) {
		check_unique(&checker, decl);
		check_header(&checker, decl);
	}
	if (!module->file->decls && !report_failed(program->result)) {
		COMPLAIN(&checker, 0, "there is no workflow in this file");
		HINT(&checker, "A workflow is written workflow NAME() { … }.");
	}
}

static void
check_module(struct program *program, struct module *module)
{
	struct checker checker = checker_new(program, module);
	struct decl *decl;

	for (decl = module->file->decls; decl; decl = decl->next) {
		checker.decl = decl;
		if (decl->is_task)
			check_task(&checker, decl);
		else
			check_workflow(&checker, decl);
	}
}

/* The task type in an earlier module with the same full name that is called. */
static const struct decl *
find_twin(const struct program *program, const struct decl *decl)
{
	const struct module *module;
	const struct decl *twin;

	for (module = program->modules; module != decl->module;
	     module = module->next)
		for (twin = module->file->decls; twin; twin = twin->next)
			if (twin->used && twin->is_task &&
			    strcmp(twin->full_name, decl->full_name) == 0)
				return twin;
	return NULL;
}

/* The compiled tree tells task types apart by their full names alone. */
static void
check_twins(struct program *program, struct module *module)
{
	struct checker checker = checker_new(program, module);
	const struct decl *decl, *twin;

	for (decl = module->file->decls; decl; decl = decl->next)
		if (decl->used && decl->is_task &&
		    (twin = find_twin(program, decl)))
			COMPLAIN(&checker, decl->name.start,
			    "`%s` is a task type of %s, too", decl->full_name,
			    twin->module->source->path);
}

void
check_program(struct program *program)
{
	struct module *module;
	struct checker checker;
	struct decl *decl;

	/* checking may load more modules; they come at the end */
	for (module = program->modules; module; module = module->next)
		check_module(program, module);
	for (module = program->modules; module; module = module->next) {
		check_twins(program, module);
		checker = checker_new(program, module);
		for (decl = module->file->decls; decl; decl = decl->next)
			if (!decl->is_task)
				check_tree(&checker, decl);
	}
}
