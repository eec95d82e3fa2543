/*
 * cmd_graph.c - draw a workflow file, an installed workflow or an instance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/compile.h"
#include "console/console.h"
#include "console/graph.h"
#include "console/lang/lang.h"
#include "console/picture.h"
#include "console/session.h"
#include "console/value.h"

/* From a file ------------------------------------------------------------- */

/*
 * The workflow `wanted`, or the only one, or main, which is named like its
 * file.
 */
static const struct json *
choose_workflow(const struct json *spec, const char *wanted, struct error *err)
{
	const struct json *list = json_get(spec, "workflows"), *workflow = NULL;
	const char *path = json_string(json_get(spec, "file")), *name;
	char *main_name = lang_main_name(path);
	size_t count = json_length(list), i;
	bool is_it = false;

	for (i = 0; i < count && !is_it; i++) {
		workflow = json_at(list, i);
		name = json_string(json_get(workflow, "name"));
		is_it = (wanted == NULL && count == 1) ||
		        strcmp(name, wanted != NULL ? wanted : main_name) == 0;
	}
	free(main_name);
	if (is_it)
		return workflow;
	if (wanted != NULL)
		error_set(err, "there is no workflow %s in %s", wanted, path);
	else
		error_set(err, "%s holds %zu workflows and none is main", path,
		    count);
	if (count > 0)
		error_hint(err, "Name one, as %s.",
		    json_string(json_get(json_at(list, 0), "name")));
	return NULL;
}

static bool
read_file(const struct console *console, const char *path, struct graph *graph,
    struct error *err)
{
	const struct json *workflow = NULL;
	struct compiled compiled;
	struct json *spec;

	if (compile_file(console, path, &compiled, err) &&
	    json_parse(compiled.spec, strlen(compiled.spec), &spec, err)) {
		workflow = choose_workflow(
		    spec, console_value(console, "WORKFLOW"), err);
		if (workflow != NULL)
			graph_add_spec(graph, workflow);
		json_free(spec);
	}
	compiled_release(&compiled);
	return workflow != NULL;
}

/* From the workspace ------------------------------------------------------ */

static bool
add_tree(struct graph *graph, const char *text, struct error *err)
{
	struct json *tree;

	if (text == NULL) {
		error_set(err, "the workspace has no tree of it");
		return false;
	}
	if (!json_parse(text, strlen(text), &tree, err))
		return false;
	graph_add_spec(graph, json_at(json_get(tree, "workflows"), 0));
	json_free(tree);
	return true;
}

static const char drawn_sql[] =
    "with drawn as materialized ("
    "  select workflow, version from wf.instance_v"
    "   where instance_id = :drawn-instance::bigint"
    "   union all"
    "  select workflow, version from wf.workflow_v"
    "   where workflow = :drawn-workflow)"
    " select g.node_id, g.title, g.state, g.processes, g.attempt, g.elapsed_s,"
    "        g.started, case g.node_id when 1 then"
    "        (select v.tree from drawn d"
    "           join wf.version_v v using (workflow, version)) end"
    "  from wf.graph(p_workflow => :drawn-workflow,"
    "                p_instance => :drawn-instance::bigint) g"
    " order by 1";

/*
 * The first row has the tree; each row says how far an instance is in a node.
 */
static bool
add_rows(struct graph *graph, const struct pg_result *rows, struct error *err)
{
	struct graph_stand stand;
	int row, count = pg_rows(rows);

	if (!add_tree(graph, count > 0 ? pg_value(rows, 0, 7) : NULL, err))
		return false;
	for (row = 0; row < count && (size_t)row < graph->count; row++) {
		stand = (struct graph_stand){
			.title = pg_value(rows, row, 1),
			.state = pg_value(rows, row, 2),
			.count = pg_value(rows, row, 3),
			.attempt = pg_value(rows, row, 4),
			.seconds = pg_value(rows, row, 5),
			.started = pg_value(rows, row, 6),
		};
		graph_set_stand(
		    graph, (size_t)pg_value_bigint(rows, row, 0) - 1, &stand);
	}
	return true;
}

static bool
read_workspace(struct console *console, const char *what, bool is_instance,
    struct graph *graph, struct error *err)
{
	struct pg_result *rows;
	bool ok;

	if (!session_open(console, NEEDS_WORKSPACE, err))
		return false;
	invocation_add(&console->invocation,
	    is_instance ? "drawn-instance" : "drawn-workflow",
	    is_instance ? "INSTANCE" : "TEXT", what);
	rows = console_query(console, drawn_sql, err);
	if (rows == NULL)
		return false;
	ok = add_rows(graph, rows, err);
	pg_result_free(rows);
	return ok;
}

static bool
read_graph(struct console *console, struct graph *graph, struct error *err)
{
	const char *what = console_value(console, "WHAT");
	int64_t instance;

	if (compile_is_file(what))
		return read_file(console, what, graph, err);
	return read_workspace(
	    console, what, value_bigint(what, &instance), graph, err);
}

/* Drawing ------------------------------------------------------------------ */

static bool
draw(
    const struct console *console, const struct graph *graph, struct error *err)
{
	const char *form = console_value(console, "as");
	bool is_mermaid = form != NULL && strcmp(form, "mermaid") == 0;
	bool is_svg = form != NULL && strcmp(form, "svg") == 0, ok = true;
	struct buf source, picture;

	buf_init(&source, 0);
	buf_init(&picture, 0);
	graph_write(graph, is_mermaid ? &graph_mermaid : &graph_dot, &source);
	if (is_svg)
		ok = picture_draw(source.data, &picture, err);
	if (ok)
		fputs(is_svg ? picture.data : source.data, console->out);
	buf_release(&picture);
	buf_release(&source);
	return ok;
}

enum exit_code
cmd_graph(struct console *console, struct error *err)
{
	struct graph graph = { 0 };
	bool ok =
	    read_graph(console, &graph, err) && draw(console, &graph, err);

	graph_release(&graph);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
