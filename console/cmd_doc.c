/*
 * cmd_doc.c - the document of a workflow file: text, or a page of HTML.
 */
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/doc.h"
#include "console/graph.h"
#include "console/picture.h"

/* The drawings that were asked for, and why one could not be made. */
struct drawing {
	struct error err;
};

/* A picture is an extra: without it the page is still printed. */
static void
draw(struct buf *buf, const struct json *workflow, void *context)
{
	struct drawing *drawing = context;
	struct graph graph = { 0 };
	struct buf source, picture;
	const char *svg;

	if (drawing->err.message != NULL)
		return;
	buf_init(&source, 0);
	buf_init(&picture, 0);
	graph_add_spec(&graph, workflow);
	graph_write(&graph, &graph_dot, &source);
	if (picture_draw(source.data, &picture, &drawing->err)) {
		/* without what only a file of its own may begin with */
		svg = strstr(picture.data, "<svg");
		buf_adds(buf, "<h3>Graph</h3>\n");
		buf_adds(buf, svg != NULL ? svg : "");
	}
	buf_release(&picture);
	buf_release(&source);
	graph_release(&graph);
}

/* Whether the file has it; NULL: any workflow. */
static bool
has_workflow(const struct json *spec, const char *name, const char *path,
    struct error *err)
{
	const struct json *list = json_get(spec, "workflows");
	size_t i;

	for (i = 0; i < json_length(list); i++)
		if (name == NULL ||
		    strcmp(json_string(json_get(json_at(list, i), "name")),
		        name) == 0)
			return true;
	error_set(err, "there is no workflow %s in %s", name, path);
	return false;
}

enum exit_code
cmd_doc(struct console *console, struct error *err)
{
	const char *path = console_value(console, "FILE");
	const char *only = console_value(console, "WORKFLOW");
	struct drawing drawing = { 0 };
	struct compiled compiled;
	struct json *spec;
	struct buf text;
	bool ok = false;

	if (compile_file(console, path, &compiled, err) &&
	    json_parse(compiled.spec, strlen(compiled.spec), &spec, err)) {
		ok = has_workflow(spec, only, path, err);
		buf_init(&text, 0);
		if (ok) {
			doc_write(&text, spec, only,
			    console_flag(console, "html"), draw, &drawing);
			fputs(text.data, console->out);
		}
		if (drawing.err.message != NULL)
			console_note(console, "without drawings: %s",
			    drawing.err.message);
		error_release(&drawing.err);
		buf_release(&text);
		json_free(spec);
	}
	compiled_release(&compiled);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
