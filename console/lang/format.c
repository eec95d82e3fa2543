/* Files and declarations. */
#include "console/lang/format.h"

#include <string.h>

#include "console/lang/diagnostic.h"
#include "console/lang/formatter.h"
#include "console/lang/parse.h"

enum { LINE_WIDTH = 100 };

static void
format_import(struct formatter *formatter, const struct import *import)
{
	format_leading(formatter, import->start);
	layout_text(formatter->layout, "import ");
	layout_text(formatter->layout, import->name.text);
	if (import->as.text) {
		layout_text(formatter->layout, " as ");
		layout_text(formatter->layout, import->as.text);
	}
	format_trailing(formatter, import->end);
}

static void
format_header(struct formatter *formatter, const struct decl *decl)
{
	if (!decl->is_main)
		layout_text(
		    formatter->layout, decl->is_task ? "task " : "workflow ");
	layout_text(formatter->layout, decl->name.text);
	if (!decl->is_main || decl->params)
		format_params(formatter, decl->params, decl->name.start);
	if (decl->returns_syntax) {
		layout_text(formatter->layout, " -> ");
		format_type(formatter, decl->returns_syntax);
	}
	format_with(formatter, decl->policies);
	if (decl->policies)
		layout_hard(formatter->layout, 0);
	else
		layout_text(formatter->layout, " ");
}

static void
format_decl(struct formatter *formatter, const struct decl *decl)
{
	format_leading(formatter, decl->start);
	format_header(formatter, decl);
	if (decl->is_task)
		format_clauses(formatter, decl->clauses, decl->end);
	else
		format_block(formatter, decl->body);
	format_trailing(formatter, decl->end);
}

static void
format_file(struct formatter *formatter, const struct file *file)
{
	const struct import *import;
	const struct decl *decl;

	for (import = file->imports; import; import = import->next) {
		format_import(formatter, import);
		layout_hard(formatter->layout, import->next == NULL);
	}
	for (decl = file->decls; decl; decl = decl->next) {
		format_decl(formatter, decl);
		if (decl->next)
			layout_hard(formatter->layout, 1);
	}
	format_rest(formatter, formatter->source->len + 1);
	layout_hard(formatter->layout, 0);
}

char *
format_source(struct arena *arena, const struct source *source,
    struct lang_result *result)
{
	struct file *file = parse(arena, source, result);
	struct formatter formatter = {
		.arena = arena,
		.source = source,
		.tokens = file->tokens,
		.layout = layout_new(arena),
	};

	if (!file->decls && !report_failed(result)) {
		report(result, source, 0, "there is no workflow in this file");
		report_hint(
		    result, "A workflow is written workflow NAME() { … }.");
	}
	if (report_failed(result))
		return NULL;
	format_file(&formatter, file);
	return layout_print(formatter.layout, LINE_WIDTH);
}
