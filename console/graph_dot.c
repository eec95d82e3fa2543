/*
 * graph_dot.c - graphs in the language of Graphviz.
 */
#include <string.h>

#include "common/buf.h"
#include "console/graph.h"

static void
add_text(struct buf *buf, const char *text)
{
	buf_addc(buf, '"');
	for (; *text != '\0'; text++)
		if (*text == '\n')
			buf_adds(buf, "\\n");
		else if (*text == '&') /* else it reads &lt; as < */
			buf_adds(buf, "&amp;");
		else if (*text == '"' || *text == '\\')
			buf_addf(buf, "\\%c", *text);
		else
			buf_addc(buf, *text);
	buf_addc(buf, '"');
}

static void
dot_begin(struct buf *buf)
{
	buf_adds(buf,
	    "digraph workflow {\n"
	    "node [shape=box style=\"rounded,filled\" fillcolor=white "
	    "fontname=\"sans-serif\" fontsize=11 height=0.3]\n"
	    "edge [fontname=\"sans-serif\" fontsize=10]\n"
	    "fontname=\"sans-serif\" fontsize=11 color=\"#a0a0a0\"\n"
	    /* long workflows are high: little space between the shapes */
	    "ranksep=0.25 nodesep=0.2\n");
}

/* Colours that colour-blind people tell apart, and a border that prints. */
static const struct look {
	const char *style, *color, *border, *width;
} looks[] = {
	{ "aborted", "#d9d9d9", ",dotted", "" },
	{ "done", "#c3e6da", "", "" },
	{ "failed", "#f0a878", "", " penwidth=4" },
	{ "running", "#bbdff5", "", " penwidth=2" },
	{ "waiting", "#f7f0a6", ",dashed", "" },
};

static void
add_style(struct buf *buf, enum graph_shape shape, const char *style)
{
	const struct look *look = NULL;
	size_t i;

	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (strcmp(looks[i].style, style) == 0)
			look = &looks[i];
	if (shape != GRAPH_TASK || (look != NULL && look->border[0] != '\0'))
		buf_addf(buf, " style=\"%sfilled%s\"",
		    shape == GRAPH_TASK ? "rounded," : "",
		    look != NULL ? look->border : "");
	if (look != NULL)
		buf_addf(buf, " fillcolor=\"%s\"%s class=\"%s\"", look->color,
		    look->width, style);
}

static const char *
shape_of(enum graph_shape shape)
{
	switch (shape) {
	case GRAPH_DECISION:
		return " shape=diamond";
	case GRAPH_EACH:
		return " shape=hexagon";
	case GRAPH_HEAD:
		return " shape=tab";
	case GRAPH_POINT:
		return " shape=point";
	case GRAPH_TERMINAL:
		return " shape=oval";
	case GRAPH_VALUE:
		return " shape=note";
	case GRAPH_TASK:
		break;
	}
	return "";
}

static void
dot_node(struct buf *buf, size_t id, enum graph_shape shape, const char *label,
    const char *style)
{
	buf_addf(buf, "n%zu [label=", id);
	add_text(buf, label);
	buf_adds(buf, shape_of(shape));
	if (shape != GRAPH_POINT)
		add_style(buf, shape, style);
	buf_adds(buf, "]\n");
}

static void
dot_open(struct buf *buf, size_t id, const char *label)
{
	buf_addf(buf, "subgraph cluster_%zu {\nlabel=", id);
	add_text(buf, label);
	buf_addc(buf, '\n');
}

static void
dot_close(struct buf *buf)
{
	buf_adds(buf, "}\n");
}

static void
dot_edge(struct buf *buf, size_t from, size_t to, const char *label, bool aside)
{
	buf_addf(buf, "n%zu -> n%zu", from, to);
	if (label != NULL) {
		buf_adds(buf, " [label=");
		add_text(buf, label);
		buf_addf(buf, "%s]", aside ? " style=dashed" : "");
	}
	buf_addc(buf, '\n');
}

const struct graph_language graph_dot = {
	.name = "dot",
	.begin = dot_begin,
	.node = dot_node,
	.open = dot_open,
	.close = dot_close,
	.edge = dot_edge,
	.end = dot_close,
};
