/*
 * graph_mermaid.c - graphs in the language of Mermaid, for Markdown.
 */
#include <string.h>

#include "common/buf.h"
#include "console/graph.h"

/* What means something to Mermaid or in HTML, by its number. */
static void
add_text(struct buf *buf, const char *text)
{
	buf_addc(buf, '"');
	for (; *text != '\0'; text++)
		if (*text == '\n')
			buf_adds(buf, "<br/>");
		else if (strchr("\"#&<>`\\", *text) != NULL)
			buf_addf(buf, "#%d;", *text);
		else
			buf_addc(buf, *text);
	buf_addc(buf, '"');
}

static void
mermaid_begin(struct buf *buf)
{
	buf_adds(buf, "flowchart TD\n"
	              "classDef aborted fill:#d9d9d9\n"
	              "classDef done fill:#c7e9c0\n"
	              "classDef failed fill:#fcae91\n"
	              "classDef running fill:#bdd7e7\n"
	              "classDef waiting fill:#fee8a8\n");
}

static void
mermaid_node(struct buf *buf, size_t id, char shape, const char *label,
    const char *style)
{
	const char *open = "[", *close = "]";

	if (shape == 'd')
		open = "{", close = "}";
	else if (shape == 'p')
		open = "((", close = "))";
	else if (shape == 'c')
		open = "([", close = "])";
	buf_addf(buf, "n%zu%s", id, open);
	add_text(buf, shape == 'p' ? " " : label);
	buf_adds(buf, close);
	if (style[0] != '\0')
		buf_addf(buf, ":::%s", style);
	buf_addc(buf, '\n');
}

static void
mermaid_open(struct buf *buf, size_t id, const char *label)
{
	buf_addf(buf, "subgraph c%zu [", id);
	add_text(buf, label);
	buf_adds(buf, "]\n");
}

static void
mermaid_close(struct buf *buf)
{
	buf_adds(buf, "end\n");
}

static void
mermaid_edge(struct buf *buf, size_t from, size_t to, const char *label)
{
	buf_addf(buf, "n%zu -->", from);
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
