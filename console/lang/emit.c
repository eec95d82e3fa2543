#include "console/lang/emit.h"

#include <string.h>

#include "console/lang/emitter.h"
#include "console/lang/source.h"

static void
emit_workflow(struct emitter *emitter, const struct decl *decl)
{
	const struct effects none = { 0 };
	struct effects own = effects_of_node(emitter, decl->policies);
	struct effects effects = effects_inside(emitter, &none, decl->policies);

	emitter->source = decl->module->source;
	buf_adds(&emitter->out, "{\"name\":");
	emit_string(emitter, decl->full_name);
	emit_doc(emitter, decl->doc);
	buf_addf(
	    &emitter->out, ",\"line\":%d", emit_line(emitter, decl->start));
	emit_params(emitter, decl->params, true);
	if (decl->returns) {
		buf_adds(&emitter->out, ",\"returns\":");
		type_emit(&emitter->out, decl->returns);
	}
	emit_policies(emitter, &own);
	buf_adds(&emitter->out, ",\"steps\":");
	emit_steps(emitter, decl->body->steps, &effects);
	buf_adds(&emitter->out, "}");
}

static void
emit_task_types(struct emitter *emitter)
{
	const struct used *used;

	buf_adds(&emitter->out, "],\"task_types\":{");
	for (used = emitter->used; used; used = used->next) {
		emit_string(emitter, used->decl->full_name);
		buf_adds(&emitter->out, ":");
		emit_task_type(emitter, used->decl);
		buf_adds(&emitter->out, used->next ? "," : "");
	}
	buf_adds(&emitter->out, "}}");
}

char *
emit_program(struct program *program)
{
	struct emitter emitter = { .arena = program->arena };
	const char *path = program->modules->source->path;
	const char *slash = strrchr(path, '/');
	const struct decl *decl;
	bool first = true;

	buf_init(&emitter.out, 0);
	buf_adds(&emitter.out, "{\"format\":1,\"file\":");
	emit_string(&emitter, slash ? slash + 1 : path);
	buf_adds(&emitter.out, ",\"workflows\":[");
	for (decl = program->modules->file->decls; decl; decl = decl->next) {
		if (decl->is_task)
			continue;
		buf_adds(&emitter.out, first ? "" : ",");
		emit_workflow(&emitter, decl);
		first = false;
	}
	emit_task_types(&emitter);
	return buf_take(&emitter.out);
}

char *
emit_type(struct program *program, const struct decl *decl)
{
	struct emitter emitter = { .arena = program->arena };

	buf_init(&emitter.out, 0);
	emit_task_type(&emitter, decl);
	return buf_take(&emitter.out);
}
