/*
 * graph.h - a workflow as boxes and arrows, in the language of a program that
 * draws them.
 */
#ifndef CONSOLE_GRAPH_H
#define CONSOLE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct error;
struct json;

/* A node of the tree; all strings are owned. */
struct graph_node {
	int parent; /* where it is in the list; -1: the root */
	char *kind; /* as in docs/spec.md; a task's may be its machine */
	char *label;
	char
	    *branch; /* "yes" or "no" of an if, "error" of a catch; else NULL */
	char *state; /* of an instance; NULL: it has not begun */
	char *count; /* how many processes it has; NULL: none is told */
	size_t *before; /* step of a dag: the nodes that it comes after */
	size_t before_count;
};

/* Parents come before their children, siblings in order. */
struct graph {
	struct graph_node *nodes;
	size_t count;
};

/* Add a node; NULL is allowed for all but kind and label. */
void graph_add(struct graph *graph, int parent, const char *kind,
    const char *label, const char *branch, const char *state,
    const char *count);

/* Two steps of a dag: `node` comes after `before`. */
void graph_order(struct graph *graph, size_t node, size_t before);

/*
 * What a node of docs/spec.md is called, as the workspace says it: its title, or
 * what it is and what it binds; for the caller to free().
 */
char *graph_label(const struct json *spec);

/* Add the tree of a workflow as docs/spec.md has it. */
void graph_add_spec(struct graph *graph, const struct json *workflow);

void graph_release(struct graph *graph);

/* What draws it: a language's words for what there is to be said. */
struct graph_language {
	const char *name;
	void (*begin)(struct buf *buf);
	/* `shape`: 'b'ox, 'd'iamond, 'p'oint, 'c'ircle */
	void (*node)(struct buf *buf, size_t id, char shape, const char *label,
	    const char *style);
	void (*open)(struct buf *buf, size_t id, const char *label);
	void (*close)(struct buf *buf);
	void (*edge)(
	    struct buf *buf, size_t from, size_t to, const char *label);
	void (*end)(struct buf *buf);
};

extern const struct graph_language graph_dot;
extern const struct graph_language graph_mermaid;

/* Add the whole of it to `buf`. */
void graph_write(const struct graph *graph,
    const struct graph_language *language, struct buf *buf);

#endif
