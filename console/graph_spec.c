/*
 * graph_spec.c - the nodes of a graph, from the compiled tree of docs/spec.md.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/doc.h"
#include "console/graph.h"
#include "console/text.h"

static const char *
member(const struct json *object, const char *name)
{
	const struct json *value = json_get(object, name);

	return value != NULL && json_type(value) == JSON_STRING
	           ? json_string(value)
	           : NULL;
}

/* "atomic as a, b": one task, with the names that it binds. */
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

/* What a node is and what it binds. */
static char *
name_of(const struct json *spec, const char *kind)
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
	const char *as;
	size_t i;

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

char *
graph_label(const struct json *spec)
{
	const struct json *policies = json_get(spec, "policies");
	const char *title = policies != NULL ? member(policies, "title") : NULL;
	const char *kind = member(spec, "kind");

	if (title != NULL || kind == NULL)
		return xstrdup(title != NULL ? title : member(spec, "name"));
	return name_of(spec, kind);
}

/* Headings ----------------------------------------------------------------- */

enum { LONGEST = 60 }; /* columns of an expression in a picture */

/* An expression as the language writes it, without outer parentheses. */
static char *
expr_text(const struct json *expr)
{
	const char *op;
	struct buf text, cut;
	size_t len;
	char *whole;

	while (expr != NULL && (op = json_string(json_at(expr, 0))) != NULL &&
	       strcmp(op, "cast") == 0)
		expr = json_at(expr, 2);
	op = expr != NULL ? json_string(json_at(expr, 0)) : NULL;
	buf_init(&text, 0);
	buf_init(&cut, 0);
	if (expr != NULL)
		doc_add_expr(&text, expr);
	len = text.data != NULL ? strlen(text.data) : 0;
	whole = buf_take(&text);
	if (op != NULL && whole[0] == '(' && strcmp(op, "if") != 0 &&
	    strcmp(op, "get") != 0 && strcmp(op, "at") != 0) {
		memmove(whole, whole + 1, len - 2);
		whole[len - 2] = '\0';
	}
	text_add_safe(&cut, whole, "");
	free(whole);
	whole = buf_take(&cut);
	if (text_width(whole) <= LONGEST)
		return whole;
	buf_init(&cut, 0);
	text_add_fitted(&cut, whole, LONGEST, false, "…");
	free(whole);
	return buf_take(&cut);
}

/* The text of an expression between two others. */
static char *
with_expr(const char *before, const struct json *expr, const char *after)
{
	char *text = expr_text(expr);
	char *all = xasprintf("%s%s%s", before, text, after);

	free(text);
	return all;
}

/* forall(x, i in xs), fold(x in xs) */
static char *
each_heading(const struct json *spec, const char *kind)
{
	const struct json *over = json_get(spec, "in");
	const char *name = member(spec, "name"), *index = member(spec, "index");
	char *before, *heading;

	if (over == NULL) {
		over = json_at(json_get(spec, "over"), 2);
		index = NULL;
		name = member(spec, "element");
	}
	before = xasprintf("%s(%s%s%s in ", kind, name,
	    index != NULL ? ", " : "", index != NULL ? index : "");
	heading = with_expr(before, over, ")");
	free(before);
	return heading;
}

static char *
let_heading(const struct json *spec)
{
	char *before = xasprintf("let %s = ", member(spec, "as"));
	char *heading = with_expr(before, json_get(spec, "value"), "");

	free(before);
	return heading;
}

/* What a node is and does, without its title. */
static char *
heading_of(const struct json *spec, const char *kind)
{
	static const struct {
		const char *kind, *key, *before, *after;
	} forms[] = {
		{ "if", "condition", "if (", ")" },
		{ "repeat", "until", "repeat until (", ")" },
		{ "return", "value", "return ", "" },
		{ "switch", "on", "switch (", ")" },
		{ "while", "while", "while (", ")" },
	};
	const struct json *value;
	size_t i;

	if (kind == NULL)
		return xstrdup(member(spec, "name"));
	if (strcmp(kind, "forall") == 0 || strcmp(kind, "fold") == 0)
		return each_heading(spec, kind);
	if (strcmp(kind, "let") == 0)
		return let_heading(spec);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		value = json_get(spec, forms[i].key);
		if (strcmp(forms[i].kind, kind) != 0 || value == NULL)
			continue;
		if (strcmp(kind, "switch") == 0)
			value = json_at(value, 1);
		return with_expr(forms[i].before, value, forms[i].after);
	}
	return name_of(spec, kind);
}

/* The text below a node's name: how many elements run at once, or who wins. */
static char *
detail_of(const struct json *spec, const char *kind)
{
	if (kind != NULL && strcmp(kind, "race") == 0)
		return xstrdup("the first to end wins");
	if (kind != NULL && strcmp(kind, "forall") == 0 &&
	    json_has(spec, "max"))
		return with_expr("at most ", json_get(spec, "max"), " at once");
	return NULL;
}

/* The title as it is written, which may be computed; NULL: it has none. */
static char *
title_of(const struct json *spec)
{
	const struct json *policies = json_get(spec, "policies");
	const struct json *title =
	    policies != NULL ? json_get(policies, "title") : NULL;
	char *text;
	size_t len;

	if (title == NULL)
		return NULL;
	if (json_type(title) == JSON_STRING)
		return xstrdup(json_string(title));
	text = expr_text(title);
	len = strlen(text);
	if (len > 1 && text[0] == '"' && text[len - 1] == '"') {
		memmove(text, text + 1, len - 2);
		text[len - 2] = '\0';
	}
	return text;
}

/* The tree ----------------------------------------------------------------- */

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

/* The label of branch i of a switch: the values of the case. */
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
		text = expr_text(json_at(values, k));
		buf_addf(&label, "%s%s", k > 1 ? ", " : "", text);
		free(text);
	}
	return buf_take(&label);
}

/* The handlers of a try, and the errors that each takes. */
static void
add_catches(struct graph *graph, int parent, const struct json *catches)
{
	const struct json *one;
	struct buf label;
	char *when;
	size_t i;

	for (i = 0; catches != NULL && i < json_length(catches); i++) {
		one = json_at(catches, i);
		when = json_has(one, "when")
		           ? with_expr("\nwhen (", json_get(one, "when"), ")")
		           : xstrdup("");
		buf_init(&label, 0);
		buf_adds(&label, "catch ");
		doc_add_name(&label, member(one, "name"));
		buf_adds(&label, when);
		add_node(graph, parent, label.data, one);
		buf_release(&label);
		free(when);
	}
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

/* Add a node without the nodes inside it. */
static void
add_head(struct graph *graph, int parent, const char *branch,
    const struct json *spec)
{
	const char *kind = member(spec, "kind");
	char *title = title_of(spec), *heading = heading_of(spec, kind);
	char *detail = title == NULL                 ? detail_of(spec, kind)
	               : strcmp(heading, "seq") == 0 ? NULL
	                                             : xstrdup(heading);

	graph_add(graph, parent, kind != NULL ? kind : "call",
	    title != NULL ? title : heading, detail, branch);
	free(detail);
	free(heading);
	free(title);
}

/* The label of the arrow from a node to its body. */
static const char *
body_branch(const char *kind)
{
	if (kind == NULL)
		return NULL;
	if (strcmp(kind, "while") == 0 || strcmp(kind, "repeat") == 0 ||
	    strcmp(kind, "fold") == 0)
		return "round";
	return strcmp(kind, "try") == 0 ? "try" : NULL;
}

static void
add_node(struct graph *graph, int parent, const char *branch,
    const struct json *spec)
{
	const char *kind = member(spec, "kind");
	int own = (int)graph->count;

	add_head(graph, parent, branch, spec);
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
		add_node(graph, own, body_branch(kind), json_get(spec, "body"));
	add_catches(graph, own, json_get(spec, "catches"));
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
