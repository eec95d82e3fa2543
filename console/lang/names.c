#include "console/lang/names.h"

#include <stdbool.h>
#include <string.h>

#include "console/lang/ast.h"

/* A name that is bound only inside the process. */
struct inside {
	const struct inside *outer;
	const char *name;
};

static void in_process(const struct process *process,
    const struct name_sink *sink, const struct inside *inside);

static void
add_read(const struct expr *expr, const struct name_sink *sink,
    const struct inside *inside)
{
	for (; inside; inside = inside->outer)
		if (inside->name && strcmp(inside->name, expr->text) == 0)
			return;
	sink->read(sink->arg, expr->text, expr->start);
}

static void
in_expr(const struct expr *expr, const struct name_sink *sink,
    const struct inside *inside)
{
	const struct inside each = { inside,
		expr && expr->kind == E_EACH ? expr->text : NULL };
	const struct member *member;
	const struct expr *item;

	if (!expr || !sink->read)
		return;
	if (expr->kind == E_NAME)
		add_read(expr, sink, inside);
	in_expr(expr->a, sink, &each);
	in_expr(expr->b, sink, inside);
	in_expr(expr->c, sink, &each);
	for (member = expr->members; member; member = member->next)
		in_expr(member->value, sink, inside);
	for (item = expr->items; item; item = item->next)
		in_expr(item, sink, inside);
}

static void
in_args(const struct arg *args, const struct name_sink *sink,
    const struct inside *inside)
{
	/* `when` of a retry sees its error */
	const struct inside error = { inside, "error" };

	for (; args; args = args->next)
		in_expr(args->value, sink,
		    args->name.text && strcmp(args->name.text, "when") == 0
		        ? &error
		        : inside);
}

static void
in_policies(const struct policy *policy, const struct name_sink *sink,
    const struct inside *inside)
{
	const struct name_sink reads = { NULL, sink->read, sink->arg };

	for (; policy; policy = policy->next) {
		in_args(policy->args, sink, inside);
		in_process(policy->undo, &reads, inside);
	}
}

static void
in_steps(const struct process *steps, const struct name_sink *sink,
    const struct inside *inside)
{
	for (; steps; steps = steps->next)
		in_process(steps, sink, inside);
}

static void
in_branches(const struct process *process, const struct name_sink *sink,
    const struct inside *inside)
{
	const struct branch *branch;
	const struct expr *value;

	for (branch = process->branches; branch; branch = branch->next) {
		const struct inside error = { inside, branch->name.text };

		for (value = branch->values; value; value = value->next)
			in_expr(value, sink, inside);
		in_expr(branch->when, sink, &error);
		in_process(branch->body, sink, &error);
	}
}

/* Only collected values leave a loop. */
static void
in_loop(const struct process *loop, const struct name_sink *sink,
    const struct inside *inside)
{
	const struct inside name = { inside, loop->name.text };
	const struct inside index = { &name, loop->index.text };
	const struct inside element = { &index, loop->as.text };
	const struct name_sink reads = { NULL, sink->read, sink->arg };
	const struct collect *collect;

	in_process(loop->body, &reads, &element);
	for (collect = loop->collects; collect; collect = collect->next) {
		in_expr(collect->value, sink, &element);
		if (sink->bound && collect->as.text)
			sink->bound(sink->arg, &collect->as);
	}
	in_expr(loop->value, sink, inside);
	in_expr(loop->condition, sink, &element);
}

static void
in_process(const struct process *process, const struct name_sink *sink,
    const struct inside *inside)
{
	const struct inside error = { inside,
		process ? process->index.text : NULL };

	if (!process)
		return;
	in_policies(process->policies, sink, inside);
	in_args(process->args, sink, inside);
	switch (process->kind) {
	case P_FORALL:
	case P_FOLD:
	case P_WHILE:
	case P_REPEAT:
		in_loop(process, sink, inside);
		return;
	case P_CALL:
		if (sink->bound && process->as.text)
			sink->bound(sink->arg, &process->as);
		break;
	case P_LET:
		if (sink->bound)
			sink->bound(sink->arg, &process->name);
		break;
	default:
		break;
	}
	in_expr(process->value, sink, inside);
	in_expr(process->condition, sink, inside);
	in_steps(process->steps, sink, inside);
	in_process(process->body, sink, inside);
	in_branches(process, sink, inside);
	in_process(process->otherwise, sink, &error);
}

void
names_of(const struct process *process, const struct name_sink *sink)
{
	in_process(process, sink, NULL);
}
