/*
 * graph_mermaid.c - graphs in the language of Mermaid, for Markdown.
 */
#include <string.h>

#include "common/buf.h"
#include "console/graph.h"

/* Write the characters that have a meaning in Mermaid or HTML as numbers. */
static void
add_text(struct buf *buf, const char *text)
{
	buf_addc(buf, '"');
	for (; *text != '\0'; text++)
		if (*text == '\n')
			buf_adds(buf, "<br/>");
		else if (strchr("\"#%&<>`\\", *text) != NULL)
			buf_addf(buf, "#%d;", *text);
		else
			buf_addc(buf, *text);
	buf_addc(buf, '"');
}

static void
mermaid_begin(struct buf *buf)
{
	buf_adds(buf, "flowchart TD\n"
	              "classDef aborted fill:#d9d9d9,stroke-dasharray:1 3\n"
	              "classDef done fill:#c3e6da\n"
	              "classDef failed fill:#f0a878,stroke-width:4px\n"
	              "classDef running fill:#bbdff5,stroke-width:2px\n"
	              "classDef waiting fill:#f7f0a6,stroke-dasharray:5 3\n");
}

/* The text before and after the label of a shape. */
static const char *const brackets[][2] = {
	[GRAPH_DECISION] = { "{", "}" },
	[GRAPH_EACH] = { "{{", "}}" },
	[GRAPH_HEAD] = { "[[", "]]" },
	[GRAPH_POINT] = { "((", "))" },
	[GRAPH_TASK] = { "[", "]" },
	[GRAPH_TERMINAL] = { "([", "])" },
	[GRAPH_VALUE] = { ">", "]" },
};

static void
mermaid_node(struct buf *buf, size_t id, enum graph_shape shape,
    const char *label, const char *style)
{
	buf_addf(buf, "n%zu%s", id, brackets[shape][0]);
	add_text(buf, shape == GRAPH_POINT ? " " : label);
	buf_adds(buf, brackets[shape][1]);
	if (style[0] != '\0')
		buf_addf(buf, ":::%s", style);
	buf_addc(buf, '\n');
}

static void
mermaid_open(struct buf *buf, size_t id, const char *label)
{
	buf_addf(buf, "subgraph c%zu [", id);
	add_text(buf, label[0] != '\0' ? label : " ");
	buf_adds(buf, "]\n");
}

static void
mermaid_close(struct buf *buf)
{
	buf_adds(buf, "end\n");
}

static void
mermaid_edge(
    struct buf *buf, size_t from, size_t to, const char *label, bool aside)
{
	buf_addf(buf, "n%zu %s", from, aside ? "-.->" : "-->");
	if (label != NULL) {
		buf_addc(buf, '|');
		add_text(buf, label);
		buf_addc(buf, '|');
	}
	buf_addf(buf, " n%zu\n", to);
}

static void
mermaid_end(struct buf *buf)
{
	(void)buf;
}

const struct graph_language graph_mermaid = {
	.name = "mermaid",
	.begin = mermaid_begin,
	.node = mermaid_node,
	.open = mermaid_open,
	.close = mermaid_close,
	.edge = mermaid_edge,
	.end = mermaid_end,
};
