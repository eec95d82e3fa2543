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
	    "fontname=\"sans-serif\" fontsize=11]\n"
	    "edge [fontname=\"sans-serif\" fontsize=10]\n"
	    "fontname=\"sans-serif\" fontsize=11\n");
}

static const char *
color_of(const char *style)
{
	static const char *const colors[][2] = {
		{ "aborted", "#d9d9d9" },
		{ "done", "#c7e9c0" },
		{ "failed", "#fcae91" },
		{ "running", "#bdd7e7" },
		{ "waiting", "#fee8a8" },
	};
	size_t i;

	for (i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
		if (strcmp(colors[i][0], style) == 0)
			return colors[i][1];
	return NULL;
}

static void
dot_node(struct buf *buf, size_t id, char shape, const char *label,
    const char *style)
{
	const char *color = color_of(style);

	buf_addf(buf, "n%zu [", id);
	if (shape == 'p')
		buf_adds(buf, "shape=point");
	else
		buf_adds(buf, "label=");
	if (shape != 'p')
		add_text(buf, label);
	if (shape == 'd')
		buf_adds(buf, " shape=diamond style=filled");
	if (shape == 'c')
		buf_adds(buf, " shape=plaintext style=\"\"");
	if (color != NULL)
		buf_addf(buf, " fillcolor=\"%s\" class=\"%s\"", color, style);
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
dot_edge(struct buf *buf, size_t from, size_t to, const char *label)
{
	buf_addf(buf, "n%zu -> n%zu", from, to);
	if (label != NULL) {
		buf_adds(buf, " [label=");
		add_text(buf, label);
		buf_addc(buf, ']');
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
