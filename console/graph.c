#include "console/graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "console/cell.h"
#include "console/text.h"

static char *
copy(const char *text)
{
	return text != NULL ? xstrdup(text) : NULL;
}

void
graph_add(struct graph *graph, int parent, const char *kind, const char *label,
    const char *detail, const char *branch)
{
	graph->nodes = xreallocarray(
	    graph->nodes, graph->count + 1, sizeof(*graph->nodes));
	graph->nodes[graph->count++] = (struct graph_node){
		.parent = parent,
		.kind = xstrdup(kind),
		.label = xstrdup(label),
		.detail = copy(detail),
		.branch = copy(branch),
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

/* "3 times, attempt 2, 1m 3s": what the state does not tell. */
static char *
counts_of(const struct graph_stand *stand)
{
	struct buf text;
	const char *between = "";

	buf_init(&text, 0);
	if (stand->count != NULL && strcmp(stand->count, "1") != 0) {
		buf_addf(&text, "%s times", stand->count);
		between = ", ";
	}
	if (stand->attempt != NULL && strcmp(stand->attempt, "1") != 0) {
		buf_addf(&text, "%sattempt %s", between, stand->attempt);
		between = ", ";
	}
	if (stand->seconds != NULL && strtod(stand->seconds, NULL) >= 1) {
		buf_adds(&text, between);
		cell_add_duration(&text, stand->seconds);
	}
	return buf_take(&text);
}

void
graph_set_stand(struct graph *graph, size_t at, const struct graph_stand *stand)
{
	struct graph_node *node = &graph->nodes[at];

	free(node->state);
	free(node->counts);
	free(node->started);
	node->state = copy(stand->state);
	node->counts = counts_of(stand);
	node->started = copy(stand->started);
	if (stand->title != NULL) {
		free(node->label);
		node->label = xstrdup(stand->title);
	}
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
		free(node->detail);
		free(node->branch);
		free(node->state);
		free(node->counts);
		free(node->started);
		free(node->before);
	}
	free(graph->nodes);
	*graph = (struct graph){ 0 };
}

/* The flow --------------------------------------------------------------- */

static bool
is_loop(const char *kind)
{
	return strcmp(kind, "while") == 0 || strcmp(kind, "repeat") == 0 ||
	       strcmp(kind, "fold") == 0;
}

/* The places where arrows to the next node start. */
struct ends {
	struct end {
		size_t node;
		const char *label;
		bool aside; /* only errors and undos take this way */
	} * list;
	size_t count;
};

struct painter {
	const struct graph *graph;
	const struct graph_language *language;
	struct buf *nodes;
	struct buf edges;     /* after all of the nodes */
	struct ends *returns; /* of the call around */
	size_t next_id;       /* of shapes that no node of the tree has */
};

static void
add_end(struct ends *ends, size_t node, const char *label)
{
	ends->list =
	    xreallocarray(ends->list, ends->count + 1, sizeof(*ends->list));
	ends->list[ends->count++] = (struct end){ node, label, false };
}

static void
add_copy(struct ends *ends, const struct end *end)
{
	add_end(ends, end->node, end->label);
	ends->list[ends->count - 1].aside = end->aside;
}

static void
add_ends(struct ends *ends, struct ends *more)
{
	size_t i;

	for (i = 0; i < more->count; i++)
		add_copy(ends, &more->list[i]);
	free(more->list);
	*more = (struct ends){ 0 };
}

/* Draw arrows from all of `ends` to the shape, which is then the only end. */
static void
lead_to(struct painter *painter, struct ends *ends, size_t shape)
{
	size_t i;

	for (i = 0; i < ends->count; i++)
		painter->language->edge(&painter->edges, ends->list[i].node,
		    shape, ends->list[i].label, ends->list[i].aside);
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

/* Add a label, broken into lines so that the shape does not become wide. */
static void
add_lines(struct buf *label, const char *text, size_t width)
{
	struct buf safe;

	if (text == NULL || text[0] == '\0')
		return;
	if (label->data != NULL && label->data[0] != '\0')
		buf_addc(label, '\n');
	buf_init(&safe, 0);
	text_add_safe(&safe, text, "");
	text_add_wrapped(label, safe.data, 0, width);
	buf_release(&safe);
}

/* "FAILED, 3 times"; a node that has ended well gets a check mark. */
static void
add_stand(struct buf *label, const struct graph_node *node)
{
	bool is_done = node->state != NULL && strcmp(node->state, "END") == 0;
	bool has_counts = node->counts != NULL && node->counts[0] != '\0';

	if (node->state == NULL)
		return;
	buf_addf(label, "\n%s%s%s", is_done ? "✓" : node->state,
	    !has_counts ? ""
	    : is_done   ? " "
	                : ", ",
	    has_counts ? node->counts : "");
}

/* "export", below it "http.Request" and "FAILED, 3 times" */
static char *
shape_label(const struct graph_node *node, enum graph_shape shape)
{
	size_t width = shape == GRAPH_DECISION ? 28 : 44;
	struct buf label;

	buf_init(&label, 0);
	add_lines(&label, node->label, width);
	add_lines(&label, node->detail, width);
	add_stand(&label, node);
	add_lines(&label, node->started, width);
	return buf_take(&label);
}

static void
put_shape(struct painter *painter, size_t id, enum graph_shape shape)
{
	const struct graph_node *node = &painter->graph->nodes[id];
	char *label = shape_label(node, shape);

	painter->language->node(
	    painter->nodes, id, shape, label, style_of(node->state));
	free(label);
}

/* A point where several ways part or meet. */
static void
put_point(struct painter *painter, struct ends *ends)
{
	size_t id = painter->next_id++;

	painter->language->node(painter->nodes, id, GRAPH_POINT, "", "");
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

/* The undo: an arrow leads there from the end of the node.  Nothing follows. */
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
		way.list[0].aside = true;
		paint_steps(painter, i, &way);
		free(way.list);
	}
}

static bool
is_finally(const struct painter *painter, size_t at)
{
	return strcmp(painter->graph->nodes[at].kind, "finally") == 0;
}

/*
 * Draw each branch from where the flow is now.  The flow goes on from all their
 * ends.
 */
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
		one.list[0].aside =
		    strcmp(painter->graph->nodes[i].kind, "catch") == 0;
		paint(painter, i, &one);
		add_ends(&all, &one);
	}
	free(ends->list);
	*ends = all;
}

/* The steps of a dag that have been painted, and the ends of each. */
struct painted {
	struct ends ends;
	bool done, awaited;
};

/* Paint the steps first that this step comes after. */
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
			add_copy(ends, &from->list[k]);
	}
	if (node->before_count == 0)
		add_end(ends, fork, NULL);
	paint(painter, at, ends);
}

/*
 * The flow goes on from the ends of those steps that no other step comes after.
 */
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

	put_shape(painter, at, GRAPH_DECISION);
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
	put_shape(painter, at, GRAPH_DECISION);
	lead_to(painter, ends, at);
	paint_branches(painter, at, ends);
	lead_to(painter, ends, at);
	ends->list[0].label = "done";
}

/*
 * Steps that belong together, in a frame.  The title is a shape in the frame,
 * and the flow enters it: no arrow runs through a title.  A return leads out of
 * a call.
 */
static void
paint_frame(struct painter *painter, size_t at, struct ends *ends)
{
	const char *kind = painter->graph->nodes[at].kind;
	bool is_call = strcmp(kind, "call") == 0;
	struct ends returns = { 0 }, *around = painter->returns;

	painter->language->open(painter->nodes, at, "");
	put_shape(
	    painter, at, strcmp(kind, "forall") == 0 ? GRAPH_EACH : GRAPH_HEAD);
	lead_to(painter, ends, at);
	if (is_call)
		painter->returns = &returns;
	paint_steps(painter, at, ends);
	painter->language->close(painter->nodes);
	painter->returns = around;
	add_ends(ends, &returns);
}

/* The first branch that ends stops the others. */
static void
paint_race(struct painter *painter, size_t at, struct ends *ends)
{
	put_shape(painter, at, GRAPH_EACH);
	lead_to(painter, ends, at);
	paint_branches(painter, at, ends);
	put_point(painter, ends);
}

/* The body of the try or a catch, and after it the finally. */
static void
paint_try(struct painter *painter, size_t at, struct ends *ends)
{
	size_t i;

	put_point(painter, ends);
	paint_branches(painter, at, ends);
	put_point(painter, ends);
	for (i = at + 1; i < painter->graph->count; i++)
		if (is_child(painter, i, at) && is_finally(painter, i)) {
			ends->list[0].label = "finally";
			paint(painter, i, ends);
			ends->list[0].label = NULL;
		}
}

static enum graph_shape
leaf_shape(const char *kind)
{
	if (strcmp(kind, "return") == 0)
		return GRAPH_TERMINAL;
	if (strcmp(kind, "let") == 0 || strcmp(kind, "checkpoint") == 0)
		return GRAPH_VALUE;
	return GRAPH_TASK;
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
		put_shape(painter, at, GRAPH_DECISION);
		lead_to(painter, ends, at);
		paint_branches(painter, at, ends);
	} else if (strcmp(kind, "race") == 0) {
		paint_race(painter, at, ends);
	} else {
		put_shape(painter, at, leaf_shape(kind));
		lead_to(painter, ends, at);
		if (strcmp(kind, "return") == 0)
			add_ends(painter->returns, ends);
	}
	paint_undo(painter, at, ends);
}

/* A legend for the styles of states that the picture has. */
static void
put_legend(struct painter *painter)
{
	static const struct {
		const char *style, *label;
	} entries[] = {
		{ "done", "✓ has ended well" },
		{ "running", "under way" },
		{ "waiting", "waits to begin" },
		{ "failed", "has failed" },
		{ "aborted", "was stopped" },
		{ "", "has not begun" },
	};
	const struct graph *graph = painter->graph;
	bool has[sizeof(entries) / sizeof(entries[0])] = { false };
	size_t i, k;

	if (graph->nodes[0].state == NULL)
		return; /* no instance */
	for (i = 0; i < graph->count; i++)
		for (k = 0; k < sizeof(has) / sizeof(has[0]); k++)
			if (strcmp(style_of(graph->nodes[i].state),
			        entries[k].style) == 0)
				has[k] = true;
	painter->language->open(painter->nodes, painter->next_id++, "legend");
	for (k = 0; k < sizeof(has) / sizeof(has[0]); k++)
		if (has[k])
			painter->language->node(painter->nodes,
			    painter->next_id++, GRAPH_TASK, entries[k].label,
			    entries[k].style);
	painter->language->close(painter->nodes);
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
	language->node(buf, painter.next_id, GRAPH_TERMINAL, "start", "");
	add_end(&ends, painter.next_id++, NULL);
	paint(&painter, 0, &ends);
	last = painter.next_id++;
	language->node(buf, last, GRAPH_TERMINAL, "end", "");
	lead_to(&painter, &ends, last);
	put_legend(&painter);
	buf_adds(buf, painter.edges.data != NULL ? painter.edges.data : "");
	language->end(buf);
	free(ends.list);
	buf_release(&painter.edges);
}
