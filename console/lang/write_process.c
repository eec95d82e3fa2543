/* Nodes that the writer writes. */
#include <string.h>

#include "console/lang/spec.h"
#include "console/lang/writer.h"

static void write_node(struct writer *writer, const struct json *node);

static const char *
kind_of(const struct json *node)
{
	const char *kind = json_string(json_get(node, "kind"));

	return kind ? kind : "";
}

static bool
is_kind(const struct json *node, const char *kind)
{
	return strcmp(kind_of(node), kind) == 0;
}

/* A seq that is only brackets around steps. */
static bool
is_plain_seq(const struct json *node)
{
	return is_kind(node, "seq") && !json_has(node, "policies") &&
	       !json_has(node, "undo");
}

static void
text(struct writer *writer, const char *string)
{
	buf_adds(&writer->out, string);
}

static void
write_named(struct writer *writer, const struct json *node, const char *key)
{
	size_t before = write_enter(writer, ".%s", key);

	write_name(writer, json_string(json_get(node, key)));
	write_leave(writer, before);
}

static void
write_as(struct writer *writer, const struct json *node)
{
	if (!json_has(node, "as"))
		return;
	text(writer, " as ");
	write_named(writer, node, "as");
}

static void
write_list(struct writer *writer, const struct json *nodes,
    const char *separator, void (*write)(struct writer *, const struct json *))
{
	size_t i, before;

	for (i = 0; i < json_length(nodes); i++) {
		before = write_enter(writer, "[%zu]", i);
		if (i > 0)
			text(writer, separator);
		write_line(writer);
		write(writer, json_at(nodes, i));
		write_leave(writer, before);
	}
}

void
write_steps(struct writer *writer, const struct json *steps)
{
	size_t before = write_enter(writer, ".steps");

	write_list(writer, steps, " ;", write_node);
	write_leave(writer, before);
}

/* The steps of a block, or those of a case. */
static void
write_inside(struct writer *writer, const struct json *body)
{
	writer->indent += 2;
	if (is_plain_seq(body)) {
		write_steps(writer, json_get(body, "steps"));
	} else {
		write_line(writer);
		write_node(writer, body);
	}
	writer->indent -= 2;
}

static void
write_braces(struct writer *writer, const struct json *body)
{
	text(writer, "{");
	write_inside(writer, body);
	write_line(writer);
	text(writer, "}");
}

void
write_block(struct writer *writer, const struct json *body)
{
	size_t before = write_enter(writer, ".body");

	write_braces(writer, json_get(body, "body"));
	write_leave(writer, before);
}

static void
write_paren(struct writer *writer, const struct json *node, const char *key)
{
	text(writer, "(");
	write_member(writer, node, key);
	text(writer, ")");
}

/* Leaves -------------------------------------------------------------------- */

static void
write_argument(struct writer *writer, const struct json *args, const char *name)
{
	const char *last = writer->out.data + writer->out.len - 1;

	text(writer, *last == '(' ? "" : ", ");
	write_word(writer, name);
	text(writer, " = ");
	write_member(writer, args, name);
}

/*
 * In the order of the parameters, without values that are the default anyway.
 */
static void
write_args(struct writer *writer, const struct json *node,
    const struct json *params, bool defaults)
{
	const struct json *args = json_get(node, "args"), *param;
	size_t before = write_enter(writer, ".args"), i;
	const char *name;

	text(writer, "(");
	for (i = 0; i < json_length(params); i++) {
		param = json_at(params, i);
		name = json_string(json_get(param, "name"));
		if (!name || (defaults && json_has(param, "default") &&
		                 spec_equal(json_get(args, name),
		                     json_get(param, "default"))))
			continue;
		write_argument(writer, args, name);
	}
	text(writer, ")");
	write_leave(writer, before);
}

static void
use_type(struct writer *writer, const char *name)
{
	struct used_type **at = &writer->used, *used;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	if (*at && strcmp((*at)->name, name) == 0)
		return;
	used = arena_alloc(writer->arena, sizeof(*used));
	used->name = name;
	used->next = *at;
	*at = used;
}

static void
write_task(struct writer *writer, const struct json *task)
{
	const char *name = json_string(json_get(task, "type"));
	const struct json *type = name ? json_get(writer->types, name) : NULL;

	if (!type) {
		write_fault(writer, "the tree does not bring the task type %s",
		    name ? name : "");
		return;
	}
	use_type(writer, name);
	write_qname(writer, name);
	write_args(writer, task, json_get(type, "params"), true);
	write_as(writer, task);
	write_with(writer, task);
}

/* An old tree lacks the declaration of a called workflow. */
static void
write_old_args(struct writer *writer, const struct json *args)
{
	size_t before = write_enter(writer, ".args"), i;

	text(writer, "(");
	for (i = 0; i < json_length(args); i++)
		if (!is_passed(json_key_at(args, i)))
			write_argument(writer, args, json_key_at(args, i));
	text(writer, ")");
	write_leave(writer, before);
}

static void
write_call(struct writer *writer, const struct json *call)
{
	const char *name = write_called(writer, call);

	write_qname(writer, name);
	if (json_has(call, "params"))
		write_args(writer, call, json_get(call, "params"), false);
	else
		write_old_args(writer, json_get(call, "args"));
	write_as(writer, call);
	write_with(writer, call);
}

static void
write_let(struct writer *writer, const struct json *let)
{
	text(writer, "let ");
	write_named(writer, let, "as");
	if (json_has(let, "type")) {
		text(writer, ": ");
		write_type(writer, json_get(let, "type"));
	}
	text(writer, " = ");
	write_member(writer, let, "value");
}

static void
write_return(struct writer *writer, const struct json *node)
{
	text(writer, "return");
	if (!json_has(node, "value"))
		return;
	text(writer, " ");
	write_member(writer, node, "value");
}

static void
write_checkpoint(struct writer *writer, const struct json *node)
{
	text(writer, "checkpoint");
	text(writer, json_bool(json_get(node, "only")) ? " only" : "");
}

/* Groups -------------------------------------------------------------------- */

static void
write_group(struct writer *writer, const struct json *steps, const char *open,
    const char *close)
{
	text(writer, open);
	writer->indent += 2;
	write_steps(writer, steps);
	writer->indent -= 2;
	write_line(writer);
	text(writer, close);
}

/* An atomic that is the only step of a block would get the block's policies. */
static void
write_with_block(struct writer *writer, const struct json *seq)
{
	const struct json *steps = json_get(seq, "steps");
	bool alone =
	    json_length(steps) == 1 && is_kind(json_at(steps, 0), "atomic");

	/* `with` begins the process, so it has no space in front */
	write_with(writer, seq);
	write_group(writer, steps, alone ? " {(" : " {", alone ? ")}" : "}");
}

static void
write_seq(struct writer *writer, const struct json *seq)
{
	const struct json *steps = json_get(seq, "steps");
	bool empty = json_length(steps) == 0;

	if (is_plain_seq(seq))
		write_group(
		    writer, steps, empty ? "{" : "(", empty ? "}" : ")");
	else
		write_with_block(writer, seq);
}

static void
write_atomic(struct writer *writer, const struct json *atomic)
{
	bool block = json_has(atomic, "policies") || json_has(atomic, "undo");

	write_with(writer, atomic);
	text(writer, block ? " {" : "");
	write_group(writer, json_get(atomic, "steps"), "atomic {", "}");
	text(writer, block ? "}" : "");
}

/* Parallel ------------------------------------------------------------------- */

/* An operand of || is one process, not a step. */
static void
write_branch(struct writer *writer, const struct json *branch)
{
	static const char *const steps[] = { "let", "return", "checkpoint",
		"par" };
	const struct json *only = json_get(branch, "steps");
	bool group = false;
	size_t i;

	/* a call as a branch of a race is in brackets anyway */
	if (is_plain_seq(branch) && json_length(only) == 1 &&
	    is_kind(json_at(only, 0), "call"))
		branch = json_at(only, 0);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		group |= is_kind(branch, steps[i]);
	text(writer, group ? "(" : "");
	write_node(writer, branch);
	text(writer, group ? ")" : "");
}

static void
write_branches(struct writer *writer, const struct json *node)
{
	size_t before = write_enter(writer, ".branches");

	write_list(writer, json_get(node, "branches"), " ||", write_branch);
	write_leave(writer, before);
}

static void
write_race(struct writer *writer, const struct json *race)
{
	text(writer, "race {");
	write_branches(writer, race);
	text(writer, "}");
}

/* A name that a branch binds for later branches; NULL: none. */
static const char *
bound_by(const struct json *node)
{
	const char *name = json_string(json_get(node, "as")), *key;
	const struct json *inner;
	size_t i, j;

	if (!name)
		name = json_string(
		    json_get(json_at(json_get(node, "collect"), 0), "as"));
	if (!name)
		name = json_string(json_get(json_get(node, "yield"), "as"));
	if (is_kind(node, "forall") || is_kind(node, "while") ||
	    is_kind(node, "repeat") || is_kind(node, "fold") ||
	    is_kind(node, "call"))
		return name;
	for (i = 0; !name && (key = spec_inner(i)); i++) {
		inner = json_get(node, key);
		if (strcmp(key, "undo") == 0)
			continue;
		if (json_type(inner) == JSON_OBJECT)
			name = bound_by(inner);
		for (j = 0; !name && json_type(inner) == JSON_LIST &&
		            j < json_length(inner);
		     j++)
			name = bound_by(json_at(inner, j));
	}
	return name;
}

/* Whether a node, or one inside it, reads a name. */
static bool
is_read(const struct json *node, const char *name)
{
	static const char *const reads[] = { "reads", "collect_reads",
		"round_reads" };
	const struct json *inner;
	const char *key;
	size_t i, j;

	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		if (json_has(json_get(node, reads[i]), name))
			return true;
	for (i = 0; (key = spec_inner(i)); i++) {
		inner = json_get(node, key);
		if (is_kind(node, "call") && strcmp(key, "steps") == 0)
			continue;
		if (json_type(inner) == JSON_OBJECT && is_read(inner, name))
			return true;
		for (j = 0;
		     json_type(inner) == JSON_LIST && j < json_length(inner);
		     j++)
			if (is_read(json_at(inner, j), name))
				return true;
	}
	return false;
}

/* The steps before a branch that do not follow from the names that it reads. */
static void
write_after(struct writer *writer, const struct json *dag, size_t i)
{
	const struct json *branches = json_get(dag, "branches");
	const struct json *after = json_at(json_get(dag, "after"), i);
	const char *separator = " after ", *name;
	size_t j;
	int64_t before;

	for (j = 0; j < json_length(after); j++) {
		before = json_int(json_at(after, j));
		name = before > 0
		           ? bound_by(json_at(branches, (size_t)before - 1))
		           : NULL;
		if (name && is_read(json_at(branches, i), name))
			continue;
		text(writer, separator);
		write_name(writer, name);
		separator = ", ";
	}
}

static void
write_dag(struct writer *writer, const struct json *dag)
{
	const struct json *branches = json_get(dag, "branches");
	size_t i, before;

	text(writer, "dag {");
	for (i = 0; i < json_length(branches); i++) {
		before = write_enter(writer, ".branches[%zu]", i);
		text(writer, i > 0 ? " ||" : "");
		write_line(writer);
		write_branch(writer, json_at(branches, i));
		write_after(writer, dag, i);
		write_leave(writer, before);
	}
	text(writer, "}");
}

/* Loops ---------------------------------------------------------------------- */

static void
write_attributes(struct writer *writer, const struct json *node)
{
	static const char *const names[] = { "max", "tolerate" };
	const char *open = "<";
	size_t i, before;

	for (i = 0; i < 2; i++) {
		if (!json_has(node, names[i]))
			continue;
		text(writer, open);
		text(writer, names[i]);
		text(writer, " = ");
		before = write_enter(writer, ".%s", names[i]);
		write_add(writer, json_get(node, names[i]));
		write_leave(writer, before);
		open = ", ";
	}
	text(writer, *open == ',' ? ">" : "");
}

static void
write_forall(struct writer *writer, const struct json *forall)
{
	const struct json *collects = json_get(forall, "collect");
	size_t i, before;

	text(writer, "forall");
	write_attributes(writer, forall);
	text(writer, "(");
	write_named(writer, forall, "name");
	if (json_has(forall, "index")) {
		text(writer, ", ");
		write_named(writer, forall, "index");
	}
	text(writer, " in ");
	write_member(writer, forall, "in");
	text(writer, ") ");
	write_block(writer, forall);
	for (i = 0; i < json_length(collects); i++) {
		before = write_enter(writer, ".collect[%zu]", i);
		text(writer, i > 0 ? ", " : " collect ");
		write_member(writer, json_at(collects, i), "value");
		write_as(writer, json_at(collects, i));
		write_leave(writer, before);
	}
}

static void
write_yield(struct writer *writer, const struct json *loop)
{
	const struct json *yield = json_get(loop, "yield");
	size_t before = write_enter(writer, ".yield");

	if (yield) {
		text(writer, " yield ");
		write_member(writer, yield, "value");
		write_as(writer, yield);
	}
	write_leave(writer, before);
}

static void
write_while(struct writer *writer, const struct json *loop)
{
	text(writer, "while");
	write_attributes(writer, loop);
	text(writer, "(");
	write_named(writer, loop, "name");
	text(writer, " = ");
	write_member(writer, loop, "start");
	text(writer, "; ");
	write_member(writer, loop, "while");
	text(writer, ") ");
	write_block(writer, loop);
	write_yield(writer, loop);
}

static void
write_repeat(struct writer *writer, const struct json *loop)
{
	text(writer, "repeat");
	write_attributes(writer, loop);
	text(writer, " ");
	write_block(writer, loop);
	text(writer, " until ");
	write_paren(writer, loop, "until");
	write_yield(writer, loop);
}

/* `over` is ["list", the first state, the list]. */
static void
write_fold(struct writer *writer, const struct json *fold)
{
	const struct json *over = json_get(fold, "over");
	size_t before;

	text(writer, "fold(");
	write_named(writer, fold, "name");
	text(writer, " = ");
	before = write_enter(writer, ".over");
	write_expr(writer, json_at(over, 1));
	text(writer, "; ");
	write_name(writer, json_string(json_get(fold, "element")));
	text(writer, " in ");
	write_expr(writer, json_at(over, 2));
	write_leave(writer, before);
	text(writer, ") ");
	write_block(writer, fold);
	write_yield(writer, fold);
}

/* Alternatives ---------------------------------------------------------------- */

static void
write_if(struct writer *writer, const struct json *node)
{
	const struct json *otherwise = json_get(node, "else");
	size_t before;

	text(writer, "if ");
	write_paren(writer, node, "condition");
	text(writer, " ");
	before = write_enter(writer, ".then");
	write_braces(writer, json_get(node, "then"));
	write_leave(writer, before);
	if (!otherwise)
		return;
	before = write_enter(writer, ".else");
	text(writer, " else ");
	if (is_kind(otherwise, "if"))
		write_if(writer, otherwise);
	else
		write_braces(writer, otherwise);
	write_leave(writer, before);
}

/* ["list", e…] of a case; none: it is the default */
static void
write_case(struct writer *writer, const struct json *values)
{
	size_t i;

	write_line(writer);
	if (!values) {
		text(writer, "default:");
		return;
	}
	text(writer, "case ");
	for (i = 1; i < json_length(values); i++) {
		text(writer, i > 1 ? ", " : "");
		write_or(writer, json_at(values, i));
	}
	text(writer, ":");
}

/* `on` is ["list", the value, a list for each case]. */
static void
write_switch(struct writer *writer, const struct json *node)
{
	const struct json *on = json_get(node, "on");
	const struct json *branches = json_get(node, "branches");
	size_t i, before = write_enter(writer, ".on");

	text(writer, "switch (");
	write_expr(writer, json_at(on, 1));
	text(writer, ") {");
	write_leave(writer, before);
	for (i = 0; i < json_length(branches); i++) {
		before = write_enter(writer, ".branches[%zu]", i);
		write_case(writer, json_at(on, i + 2));
		write_inside(writer, json_at(branches, i));
		write_leave(writer, before);
	}
	write_line(writer);
	text(writer, "}");
}

/* A catch or finally. */
static void
write_handler(
    struct writer *writer, const struct json *handler, const char *word)
{
	text(writer, word);
	if (json_has(handler, "name")) {
		text(writer, " (");
		write_caught(writer, json_string(json_get(handler, "name")));
		text(writer, ")");
	}
	if (json_has(handler, "when")) {
		text(writer, " when ");
		write_paren(writer, handler, "when");
	}
	text(writer, " ");
	write_block(writer, handler);
}

static void
write_try(struct writer *writer, const struct json *node)
{
	const struct json *catches = json_get(node, "catches");
	size_t i, before;

	text(writer, "try ");
	write_block(writer, node);
	for (i = 0; i < json_length(catches); i++) {
		before = write_enter(writer, ".catches[%zu]", i);
		write_handler(writer, json_at(catches, i), " catch");
		write_leave(writer, before);
	}
	if (!json_has(node, "finally"))
		return;
	before = write_enter(writer, ".finally");
	write_handler(writer, json_get(node, "finally"), " finally");
	write_leave(writer, before);
}

static const struct kind {
	const char *name;
	void (*write)(struct writer *, const struct json *);
} kinds[] = {
	{ "task", write_task },
	{ "call", write_call },
	{ "let", write_let },
	{ "return", write_return },
	{ "checkpoint", write_checkpoint },
	{ "seq", write_seq },
	{ "atomic", write_atomic },
	{ "par", write_branches },
	{ "race", write_race },
	{ "dag", write_dag },
	{ "forall", write_forall },
	{ "while", write_while },
	{ "repeat", write_repeat },
	{ "fold", write_fold },
	{ "if", write_if },
	{ "switch", write_switch },
	{ "try", write_try },
};

static void
write_node(struct writer *writer, const struct json *node)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (is_kind(node, kinds[i].name)) {
			kinds[i].write(writer, node);
			return;
		}
	}
	write_fault(writer, "there is no kind `%.100s`", kind_of(node));
}
