/*
 * graph.h - a workflow as boxes and arrows, written for a program that draws
 * them.
 */
#ifndef CONSOLE_GRAPH_H
#define CONSOLE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct json;

/* A node of the tree; all strings are owned. */
struct graph_node {
	int parent;     /* where it is in the list; -1: the root */
	char *kind;     /* as in docs/spec.md */
	char *label;    /* its title, or a description */
	char *detail;   /* the description, if there is a title; else NULL */
	char *branch;   /* what leads to it: "yes" of an if; else NULL */
	char *state;    /* of an instance; NULL: it has not begun */
	char *counts;   /* "3 times, attempt 2"; NULL: no such text */
	char *started;  /* which instances it has started; else NULL */
	size_t *before; /* step of a dag: the nodes that it comes after */
	size_t before_count;
};

/* Parents come before their children, siblings are in order. */
struct graph {
	struct graph_node *nodes;
	size_t count;
};

/* How far an instance is in a node: numbers as text; NULL: no such number. */
struct graph_stand {
	const char *title;   /* what its title is in this instance */
	const char *state;   /* of the process that needs most attention */
	const char *count;   /* processes that have begun */
	const char *attempt; /* the highest of them */
	const char *seconds; /* from the first beginning to the last end */
	const char *started; /* which instances it has started */
};

/* Add a node; NULL is allowed for detail and branch. */
void graph_add(struct graph *graph, int parent, const char *kind,
    const char *label, const char *detail, const char *branch);

/* Two steps of a dag: `node` comes after `before`. */
void graph_order(struct graph *graph, size_t node, size_t before);

/* How far an instance is in the node `at`. */
void graph_set_stand(
    struct graph *graph, size_t at, const struct graph_stand *stand);

void graph_release(struct graph *graph);

/*
 * graph_spec.c: the name of a node of docs/spec.md, the same as in the
 * workspace: its title, or what it is and what it binds; for the caller to
 * free().
 */
char *graph_label(const struct json *spec);

/*
 * Add the tree of a workflow as docs/spec.md has it.  Its nodes are in the order
 * in which the workspace numbers them.
 */
void graph_add_spec(struct graph *graph, const struct json *workflow);

/* How a node looks. */
enum graph_shape {
	GRAPH_TASK,
	GRAPH_DECISION,
	GRAPH_EACH,  /* head of a frame whose steps are done for each element */
	GRAPH_HEAD,  /* of any other frame, with its title */
	GRAPH_POINT, /* where many ways part or meet */
	GRAPH_TERMINAL,
	GRAPH_VALUE, /* a node without work: a let, a checkpoint */
};

/* The functions that write a graph in one language. */
struct graph_language {
	const char *name;
	void (*begin)(struct buf *buf);
	/* `style`: of a state, as in graph.c; "" for none */
	void (*node)(struct buf *buf, size_t id, enum graph_shape shape,
	    const char *label, const char *style);
	void (*open)(struct buf *buf, size_t id, const char *label);
	void (*close)(struct buf *buf);
	/* `aside`: only errors and undos go this way */
	void (*edge)(struct buf *buf, size_t from, size_t to, const char *label,
	    bool aside);
	void (*end)(struct buf *buf);
};

extern const struct graph_language graph_dot;
extern const struct graph_language graph_mermaid;

/* Add the whole graph to `buf`. */
void graph_write(const struct graph *graph,
    const struct graph_language *language, struct buf *buf);

#endif
