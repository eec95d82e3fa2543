#include "console/graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/text.h"

static char *
copy(const char *text)
{
	return text != NULL ? xstrdup(text) : NULL;
}

void
graph_add(struct graph *graph, int parent, const char *kind, const char *label,
    const char *branch, const char *state, const char *count)
{
	graph->nodes = xreallocarray(
	    graph->nodes, graph->count + 1, sizeof(*graph->nodes));
	graph->nodes[graph->count++] = (struct graph_node){
		.parent = parent,
		.kind = xstrdup(kind),
		.label = xstrdup(label),
		.branch = copy(branch),
		.state = copy(state),
		.count = copy(count),
	};
}

void
graph_order(struct graph *graph, size_t node, size_t before)
{
	struct graph_node *step = &graph->nodes[node];

	step->before = xreallocarray(
	    step->before, step->before_count + 1, sizeof(*step->before));
	step->before[step->before_count++] = before;
}

void
graph_release(struct graph *graph)
{
	struct graph_node *node;
	size_t i;

	for (i = 0; i < graph->count; i++) {
		node = &graph->nodes[i];
		free(node->kind);
		free(node->label);
		free(node->branch);
		free(node->state);
		free(node->count);
		free(node->before);
	}
	free(graph->nodes);
	*graph = (struct graph){ 0 };
}

/* From the compiled tree ------------------------------------------------- */

static const char *
member(const struct json *object, const char *name)
{
	const struct json *value = json_get(object, name);

	return value != NULL && json_type(value) == JSON_STRING
	           ? json_string(value)
	           : NULL;
}

/* "atomic as a, b": one task, with the names that its calls bind. */
static char *
atomic_label(const struct json *calls)
{
	struct buf label;
	const char *as;
	size_t i, count = 0;

	buf_init(&label, 0);
	buf_adds(&label, "atomic");
	for (i = 0; i < json_length(calls); i++)
		if ((as = member(json_at(calls, i), "as")) != NULL)
			buf_addf(
			    &label, "%s%s", count++ > 0 ? ", " : " as ", as);
	return buf_take(&label);
}

char *
graph_label(const struct json *spec)
{
	static const struct {
		const char *kind, *prefix, *name, *as;
	} forms[] = {
		{ "call", "call ", "workflow", "as" },
		{ "fold", "fold ", "name", NULL },
		{ "forall", "forall ", "name", NULL },
		{ "let", "let ", "as", NULL },
		{ "task", "", "type", "as" },
		{ "while", "while ", "name", NULL },
	};
	const struct json *policies = json_get(spec, "policies");
	const char *title = policies != NULL ? member(policies, "title") : NULL;
	const char *kind = member(spec, "kind"), *as;
	size_t i;

	if (title != NULL || kind == NULL)
		return xstrdup(title != NULL ? title : member(spec, "name"));
	if (strcmp(kind, "atomic") == 0)
		return atomic_label(json_get(spec, "steps"));
	if (json_bool(json_get(spec, "only")))
		return xasprintf("%s only", kind);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].kind, kind) != 0)
			continue;
		as = forms[i].as != NULL ? member(spec, "as") : NULL;
		return xasprintf("%s%s%s%s", forms[i].prefix,
		    member(spec, forms[i].name), as != NULL ? " as " : "",
		    as != NULL ? as : "");
	}
	return xstrdup(kind);
}

static bool
is_loop(const char *kind)
{
	return strcmp(kind, "while") == 0 || strcmp(kind, "repeat") == 0 ||
	       strcmp(kind, "fold") == 0;
}

static void add_node(struct graph *graph, int parent, const char *branch,
    const struct json *spec);

static void
add_list(struct graph *graph, int parent, const char *branch,
    const struct json *list)
{
	size_t i;

	for (i = 0; list != NULL && i < json_length(list); i++)
		add_node(graph, parent, branch, json_at(list, i));
}

/*
 * What leads to branch i of a switch, as the workspace says it: the values of
 * a case if they are simple constants, else its number.
 */
static char *
case_label(const struct json *on, size_t i)
{
	const struct json *values =
	    i + 2 < json_length(on) ? json_at(on, i + 2) : NULL;
	struct buf label;
	char *text;
	size_t k;

	if (values == NULL)
		return xstrdup("default");
	buf_init(&label, 0);
	for (k = 1; k < json_length(values); k++) {
		if (json_type(json_at(values, k)) == JSON_LIST ||
		    json_type(json_at(values, k)) == JSON_OBJECT) {
			buf_release(&label);
			return xasprintf("case %zu", i + 1);
		}
		text = json_text(json_at(values, k));
		buf_addf(&label, "%s%s", k > 1 ? ", " : "", text);
		free(text);
	}
	return buf_take(&label);
}

static void
add_cases(struct graph *graph, int parent, const struct json *on,
    const struct json *branches)
{
	char *label;
	size_t i;

	for (i = 0; i < json_length(branches); i++) {
		label = case_label(on, i);
		add_node(graph, parent, label, json_at(branches, i));
		free(label);
	}
}

/* Steps of a dag, and which of them come after which, by ordinals. */
static void
add_dag(struct graph *graph, int parent, const struct json *branches,
    const struct json *after)
{
	size_t count = json_length(branches), i, k;
	size_t *nodes = xreallocarray(NULL, count + 1, sizeof(*nodes));
	const struct json *before;

	for (i = 0; i < count; i++) {
		nodes[i] = graph->count;
		add_node(graph, parent, NULL, json_at(branches, i));
	}
	for (i = 0; i < json_length(after); i++) {
		before = json_at(after, i);
		for (k = 0; k < json_length(before); k++)
			graph_order(graph, nodes[i],
			    nodes[json_int(json_at(before, k)) - 1]);
	}
	free(nodes);
}

static void
add_node(struct graph *graph, int parent, const char *branch,
    const struct json *spec)
{
	const char *kind = member(spec, "kind");
	char *label = graph_label(spec);
	int own = (int)graph->count;

	graph_add(graph, parent, kind != NULL ? kind : "call", label, branch,
	    NULL, NULL);
	free(label);
	if (json_get(spec, "undo") != NULL)
		add_node(graph, own, "undo", json_get(spec, "undo"));
	if (kind != NULL && strcmp(kind, "atomic") == 0)
		return; /* the parts of these nodes are not nodes themselves */
	add_list(graph, own, NULL, json_get(spec, "steps"));
	if (json_get(spec, "on") != NULL)
		add_cases(graph, own, json_get(spec, "on"),
		    json_get(spec, "branches"));
	else if (json_get(spec, "after") != NULL)
		add_dag(graph, own, json_get(spec, "branches"),
		    json_get(spec, "after"));
	else
		add_list(graph, own, NULL, json_get(spec, "branches"));
	if (json_get(spec, "body") != NULL)
		add_node(graph, own,
		    kind != NULL && is_loop(kind) ? "round" : NULL,
		    json_get(spec, "body"));
	add_list(graph, own, "error", json_get(spec, "catches"));
	if (json_get(spec, "finally") != NULL)
		add_node(graph, own, "finally", json_get(spec, "finally"));
	if (json_get(spec, "then") != NULL)
		add_node(graph, own, "yes", json_get(spec, "then"));
	if (json_get(spec, "else") != NULL)
		add_node(graph, own, "no", json_get(spec, "else"));
}

void
graph_add_spec(struct graph *graph, const struct json *workflow)
{
	add_node(graph, -1, NULL, workflow);
}

/* The flow --------------------------------------------------------------- */

/* Where arrows start that lead to what comes next. */
struct ends {
	struct end {
		size_t node;
		const char *label;
	} * list;
	size_t count;
};

struct painter {
	const struct graph *graph;
	const struct graph_language *language;
	struct buf *nodes;
	struct buf edges;     /* after all of the nodes */
	struct ends *returns; /* of the call around */
	size_t next_id;       /* of shapes that are no node of the tree */
};

static void
add_end(struct ends *ends, size_t node, const char *label)
{
	ends->list =
	    xreallocarray(ends->list, ends->count + 1, sizeof(*ends->list));
	ends->list[ends->count++] = (struct end){ node, label };
}

static void
add_ends(struct ends *ends, struct ends *more)
{
	size_t i;

	for (i = 0; i < more->count; i++)
		add_end(ends, more->list[i].node, more->list[i].label);
	free(more->list);
	*more = (struct ends){ 0 };
}

/* Arrows from all of `ends` to the shape, where the flow is from now on. */
static void
lead_to(struct painter *painter, struct ends *ends, size_t shape)
{
	size_t i;

	for (i = 0; i < ends->count; i++)
		painter->language->edge(&painter->edges, ends->list[i].node,
		    shape, ends->list[i].label);
	ends->count = 0;
	add_end(ends, shape, NULL);
}

static const char *
style_of(const char *state)
{
	static const struct {
		const char *state, *style;
	} styles[] = {
		{ "ABORTED", "aborted" },
		{ "ABORTING", "aborted" },
		{ "END", "done" },
		{ "FAILED", "failed" },
		{ "INIT", "waiting" },
		{ "RAISED", "failed" },
	};
	size_t i;

	if (state == NULL)
		return "";
	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (strcmp(styles[i].state, state) == 0)
			return styles[i].style;
	return "running";
}

/* "http.Request export", below it "FAILED, 3 times" */
static char *
shape_label(const struct graph_node *node)
{
	struct buf label;

	buf_init(&label, 0);
	text_add_safe(&label, node->label, "");
	if (node->state != NULL)
		buf_addf(&label, "\n%s", node->state);
	if (node->count != NULL && strcmp(node->count, "1") != 0)
		buf_addf(&label, ", %s times", node->count);
	return buf_take(&label);
}

static void
put_shape(struct painter *painter, size_t id, char shape)
{
	const struct graph_node *node = &painter->graph->nodes[id];
	char *label = shape_label(node);

	painter->language->node(
	    painter->nodes, id, shape, label, style_of(node->state));
	free(label);
}

/* Where many ways part or meet. */
static void
put_point(struct painter *painter, struct ends *ends)
{
	size_t id = painter->next_id++;

	painter->language->node(painter->nodes, id, 'p', "", "");
	lead_to(painter, ends, id);
}

static void paint(struct painter *painter, size_t at, struct ends *ends);

static bool
is_child(const struct painter *painter, size_t at, size_t parent)
{
	return painter->graph->nodes[at].parent == (int)parent;
}

static bool
is_undo(const struct painter *painter, size_t at)
{
	return strcmp(painter->graph->nodes[at].kind, "undo") == 0;
}

/* One after another. */
static void
paint_steps(struct painter *painter, size_t parent, struct ends *ends)
{
	size_t i;

	for (i = parent + 1; i < painter->graph->count; i++)
		if (is_child(painter, i, parent) && !is_undo(painter, i))
			paint(painter, i, ends);
}

/* It leads away from where its node ends, and nothing comes after it. */
static void
paint_undo(struct painter *painter, size_t at, const struct ends *ends)
{
	size_t i;

	for (i = at + 1; i < painter->graph->count; i++) {
		struct ends way = { 0 };

		if (!is_child(painter, i, at) || !is_undo(painter, i) ||
		    ends->count == 0)
			continue;
		add_end(&way, ends->list[0].node, "undo");
		paint_steps(painter, i, &way);
		free(way.list);
	}
}

static bool
is_finally(const struct painter *painter, size_t at)
{
	return strcmp(painter->graph->nodes[at].kind, "finally") == 0;
}

/* Each from where the flow is now; it goes on from where they all end. */
static void
paint_branches(struct painter *painter, size_t parent, struct ends *ends)
{
	struct ends all = { 0 }, one;
	size_t fork = ends->list[0].node, i;

	for (i = parent + 1; i < painter->graph->count; i++) {
		if (!is_child(painter, i, parent) || is_finally(painter, i))
			continue;
		one = (struct ends){ 0 };
		add_end(&one, fork, painter->graph->nodes[i].branch);
		paint(painter, i, &one);
		add_ends(&all, &one);
	}
	free(ends->list);
	*ends = all;
}

/* The steps of a dag that were painted, and where each of them ends. */
struct painted {
	struct ends ends;
	bool done, awaited;
};

/* Those that it comes after are painted first. */
static void
paint_step(
    struct painter *painter, size_t at, size_t fork, struct painted *steps)
{
	const struct graph_node *node = &painter->graph->nodes[at];
	struct ends *ends = &steps[at].ends;
	const struct ends *from;
	size_t i, k;

	if (steps[at].done)
		return;
	steps[at].done = true;
	for (i = 0; i < node->before_count; i++) {
		paint_step(painter, node->before[i], fork, steps);
		steps[node->before[i]].awaited = true;
		from = &steps[node->before[i]].ends;
		for (k = 0; k < from->count; k++)
			add_end(ends, from->list[k].node, from->list[k].label);
	}
	if (node->before_count == 0)
		add_end(ends, fork, NULL);
	paint(painter, at, ends);
}

/* It goes on from where all steps end that no other one comes after. */
static void
paint_dag(struct painter *painter, size_t at, struct ends *ends)
{
	size_t count = painter->graph->count, fork = ends->list[0].node, i;
	struct painted *steps = xcalloc(count, sizeof(*steps));

	ends->count = 0;
	for (i = at + 1; i < count; i++)
		if (is_child(painter, i, at))
			paint_step(painter, i, fork, steps);
	for (i = at + 1; i < count; i++) {
		if (steps[i].done && !steps[i].awaited)
			add_ends(ends, &steps[i].ends);
		free(steps[i].ends.list);
	}
	free(steps);
}

static void
paint_if(struct painter *painter, size_t at, struct ends *ends)
{
	bool has_else = false;
	size_t i;

	put_shape(painter, at, 'd');
	lead_to(painter, ends, at);
	for (i = at + 1; i < painter->graph->count; i++)
		if (is_child(painter, i, at) &&
		    strcmp(painter->graph->nodes[i].branch, "no") == 0)
			has_else = true;
	paint_branches(painter, at, ends);
	if (!has_else)
		add_end(ends, at, "no");
}

/* A round leads back to where the loop decides whether there is another one. */
static void
paint_loop(struct painter *painter, size_t at, struct ends *ends)
{
	put_shape(painter, at, 'd');
	lead_to(painter, ends, at);
	paint_branches(painter, at, ends);
	lead_to(painter, ends, at);
}

/* What belongs together, in a frame; a return leads out of a call. */
static void
paint_frame(struct painter *painter, size_t at, struct ends *ends)
{
	const struct graph_node *node = &painter->graph->nodes[at];
	bool is_call = strcmp(node->kind, "call") == 0;
	struct ends returns = { 0 }, *around = painter->returns;
	char *label = shape_label(node);

	painter->language->open(painter->nodes, at, label);
	free(label);
	if (is_call)
		painter->returns = &returns;
	paint_steps(painter, at, ends);
	painter->language->close(painter->nodes);
	painter->returns = around;
	add_ends(ends, &returns);
}

/* Its body or a catch, and in the end its finally. */
static void
paint_try(struct painter *painter, size_t at, struct ends *ends)
{
	size_t i;

	put_point(painter, ends);
	paint_branches(painter, at, ends);
	put_point(painter, ends);
	for (i = at + 1; i < painter->graph->count; i++)
		if (is_child(painter, i, at) && is_finally(painter, i))
			paint(painter, i, ends);
}

static void
paint(struct painter *painter, size_t at, struct ends *ends)
{
	const char *kind = painter->graph->nodes[at].kind;
	const char *label = painter->graph->nodes[at].label;

	if (strcmp(kind, "call") == 0 || strcmp(kind, "forall") == 0 ||
	    (strcmp(kind, "seq") == 0 && strcmp(label, kind) != 0)) {
		paint_frame(painter, at, ends);
	} else if (strcmp(kind, "seq") == 0 || strcmp(kind, "catch") == 0 ||
	           is_finally(painter, at)) {
		paint_steps(painter, at, ends);
	} else if (strcmp(kind, "par") == 0) {
		put_point(painter, ends);
		paint_branches(painter, at, ends);
		put_point(painter, ends);
	} else if (strcmp(kind, "try") == 0) {
		paint_try(painter, at, ends);
	} else if (strcmp(kind, "dag") == 0) {
		put_point(painter, ends);
		paint_dag(painter, at, ends);
		put_point(painter, ends);
	} else if (strcmp(kind, "if") == 0) {
		paint_if(painter, at, ends);
	} else if (is_loop(kind)) {
		paint_loop(painter, at, ends);
	} else if (strcmp(kind, "switch") == 0) {
		put_shape(painter, at, 'd');
		lead_to(painter, ends, at);
		paint_branches(painter, at, ends);
	} else {
		put_shape(painter, at, 'b');
		lead_to(painter, ends, at);
		if (strcmp(kind, "return") == 0)
			add_ends(painter->returns, ends);
	}
	paint_undo(painter, at, ends);
}

void
graph_write(const struct graph *graph, const struct graph_language *language,
    struct buf *buf)
{
	struct painter painter = {
		.graph = graph,
		.language = language,
		.nodes = buf,
		.next_id = graph->count,
	};
	struct ends ends = { 0 };
	size_t last;

	buf_init(&painter.edges, 0);
	language->begin(buf);
	language->node(buf, painter.next_id, 'c', "start", "");
	add_end(&ends, painter.next_id++, NULL);
	paint(&painter, 0, &ends);
	last = painter.next_id++;
	language->node(buf, last, 'c', "end", "");
	lead_to(&painter, &ends, last);
	buf_adds(buf, painter.edges.data != NULL ? painter.edges.data : "");
	language->end(buf);
	free(ends.list);
	buf_release(&painter.edges);
}
