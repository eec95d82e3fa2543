/* Processes. */
#include <string.h>

#include "console/lang/formatter.h"

static void format_process(
    struct formatter *formatter, const struct process *process);

static void
text(struct formatter *formatter, const char *string)
{
	layout_text(formatter->layout, string);
}

static void
format_steps(struct formatter *formatter, const struct process *steps)
{
	const struct process *step;

	for (step = steps; step; step = step->next) {
		if (step != steps)
			format_separate(formatter, step->start);
		format_leading(formatter, step->start);
		format_process(formatter, step);
		if (step->next)
			text(formatter, " ;");
		format_trailing(formatter, step->end);
	}
}

static bool
has_comments(const struct formatter *formatter, size_t before)
{
	return formatter->next_comment < formatter->tokens->comment_count &&
	       formatter->tokens->comments[formatter->next_comment].offset <
	           before;
}

/* Steps between brackets, on lines of their own. */
static void
format_group(struct formatter *formatter, const struct process *steps,
    size_t end, const char *brackets)
{
	text(formatter, brackets[0] == '{' ? "{" : "(");
	if (!steps && !has_comments(formatter, end - 1)) {
		text(formatter, " }");
		return;
	}
	layout_indent(formatter->layout, 2);
	if (steps)
		layout_hard(formatter->layout, 0);
	format_steps(formatter, steps);
	format_rest(formatter, end - 1);
	layout_indent(formatter->layout, -2);
	layout_hard(formatter->layout, 0);
	text(formatter, brackets + 1);
}

void
format_block(struct formatter *formatter, const struct process *block)
{
	format_group(formatter, block->steps, block->end, "{}");
}

static void
format_seq(struct formatter *formatter, const struct process *seq)
{
	format_group(
	    formatter, seq->steps, seq->end, seq->braces ? "{}" : "()");
}

static void
format_as(struct formatter *formatter, const struct name *as)
{
	if (!as->text)
		return;
	text(formatter, " as ");
	text(formatter, as->text);
}

static void
format_call(struct formatter *formatter, const struct process *call)
{
	text(formatter, call->name.text);
	format_args(formatter, call->args, call->name.start, "()");
	format_as(formatter, &call->as);
	format_with(formatter, call->policies);
}

/* `||` stands on a line of its own; between groups it stands beside them. */
static void
format_parallel(struct formatter *formatter, const struct process *branches)
{
	const struct process *branch;
	const struct name *after;
	bool inline_bars;

	for (branch = branches; branch; branch = branch->next) {
		format_leading(formatter, branch->start);
		format_process(formatter, branch);
		for (after = branch->after; after && after->text; after++) {
			text(formatter,
			    after == branch->after ? " after " : ", ");
			text(formatter, after->text);
		}
		format_trailing(formatter, branch->end);
		if (!branch->next)
			break;
		inline_bars = branch->kind == P_SEQ && !branch->after &&
		              branch->next->kind == P_SEQ &&
		              !has_comments(formatter, branch->next->start);
		if (inline_bars) {
			text(formatter, " || ");
			continue;
		}
		layout_hard(formatter->layout, 0);
		text(formatter, "||");
		layout_hard(formatter->layout, 0);
	}
}

static void
format_par(struct formatter *formatter, const struct process *par)
{
	format_parallel(formatter, par->steps);
}

/* dag { … }, race { … } */
static void
format_branches(struct formatter *formatter, const struct process *process)
{
	text(formatter, process->kind == P_DAG ? "dag {" : "race {");
	layout_indent(formatter->layout, 2);
	layout_hard(formatter->layout, 0);
	format_parallel(formatter, process->steps);
	format_rest(formatter, process->end - 1);
	layout_indent(formatter->layout, -2);
	layout_hard(formatter->layout, 0);
	text(formatter, "}");
}

static void
format_collects(struct formatter *formatter, const char *word,
    const struct collect *collect)
{
	if (!collect)
		return;
	text(formatter, word);
	for (; collect; collect = collect->next) {
		format_expr(formatter, collect->value);
		format_as(formatter, &collect->as);
		text(formatter, collect->next ? ", " : "");
	}
}

static void
format_attrs(struct formatter *formatter, const struct process *process)
{
	if (process->args)
		format_args(formatter, process->args, process->start, "<>");
}

static void
format_paren(struct formatter *formatter, const struct expr *expr)
{
	text(formatter, "(");
	format_expr(formatter, expr);
	text(formatter, ")");
}

static void
format_forall(struct formatter *formatter, const struct process *forall)
{
	text(formatter, "forall");
	format_attrs(formatter, forall);
	text(formatter, "(");
	text(formatter, forall->name.text);
	if (forall->index.text) {
		text(formatter, ", ");
		text(formatter, forall->index.text);
	}
	text(formatter, " in ");
	format_expr(formatter, forall->value);
	text(formatter, ") ");
	format_block(formatter, forall->body);
	format_collects(formatter, " collect ", forall->collects);
}

/* fold and while: (state = e; …) */
static void
format_state(struct formatter *formatter, const struct process *loop)
{
	bool is_fold = loop->kind == P_FOLD;

	text(formatter, is_fold ? "fold" : "while");
	format_attrs(formatter, loop);
	text(formatter, "(");
	text(formatter, loop->name.text);
	text(formatter, " = ");
	format_expr(formatter, loop->value);
	text(formatter, "; ");
	if (is_fold) {
		text(formatter, loop->as.text);
		text(formatter, " in ");
	}
	format_expr(formatter, loop->condition);
	text(formatter, ") ");
	format_block(formatter, loop->body);
	format_collects(formatter, " yield ", loop->collects);
}

static void
format_repeat(struct formatter *formatter, const struct process *loop)
{
	text(formatter, "repeat");
	format_attrs(formatter, loop);
	text(formatter, " ");
	format_block(formatter, loop->body);
	text(formatter, " until ");
	format_paren(formatter, loop->condition);
	format_collects(formatter, " yield ", loop->collects);
}

static void
format_if(struct formatter *formatter, const struct process *process)
{
	text(formatter, "if ");
	format_paren(formatter, process->condition);
	text(formatter, " ");
	format_block(formatter, process->body);
	if (!process->otherwise)
		return;
	text(formatter, " else ");
	format_process(formatter, process->otherwise);
}

static void
format_case(struct formatter *formatter, const struct branch *branch)
{
	const struct expr *value;

	format_leading(formatter, branch->start);
	text(formatter, branch->values ? "case " : "default");
	for (value = branch->values; value; value = value->next) {
		format_expr(formatter, value);
		text(formatter, value->next ? ", " : "");
	}
	text(formatter, ":");
	layout_indent(formatter->layout, 2);
	if (branch->body->steps)
		layout_hard(formatter->layout, 0);
	format_steps(formatter, branch->body->steps);
	layout_indent(formatter->layout, -2);
}

static void
format_switch(struct formatter *formatter, const struct process *process)
{
	const struct branch *branch;

	text(formatter, "switch ");
	format_paren(formatter, process->value);
	text(formatter, " {");
	layout_indent(formatter->layout, 2);
	for (branch = process->branches; branch; branch = branch->next) {
		layout_hard(formatter->layout, 0);
		format_case(formatter, branch);
	}
	format_rest(formatter, process->end - 1);
	layout_indent(formatter->layout, -2);
	layout_hard(formatter->layout, 0);
	text(formatter, "}");
}

static void
format_try(struct formatter *formatter, const struct process *process)
{
	const struct branch *branch;

	text(formatter, "try ");
	format_block(formatter, process->body);
	for (branch = process->branches; branch; branch = branch->next) {
		text(formatter, branch->is_finally ? " finally " : " catch ");
		if (branch->name.text) {
			text(formatter, "(");
			text(formatter, branch->name.text);
			text(formatter, ") ");
		}
		if (branch->when) {
			text(formatter, "when ");
			format_paren(formatter, branch->when);
			text(formatter, " ");
		}
		format_block(formatter, branch->body);
	}
}

static void
format_atomic(struct formatter *formatter, const struct process *atomic)
{
	text(formatter, "atomic ");
	format_group(formatter, atomic->steps, atomic->end, "{}");
}

static void
format_with_block(struct formatter *formatter, const struct process *with)
{
	format_policies(formatter, with->policies);
	text(formatter, " ");
	format_block(formatter, with->body);
}

static void
format_let(struct formatter *formatter, const struct process *let)
{
	text(formatter, "let ");
	text(formatter, let->name.text);
	if (let->type_syntax) {
		text(formatter, ": ");
		format_type(formatter, let->type_syntax);
	}
	text(formatter, " = ");
	format_expr(formatter, let->value);
}

static void
format_return(struct formatter *formatter, const struct process *process)
{
	text(formatter, process->value ? "return " : "return");
	if (process->value)
		format_expr(formatter, process->value);
}

static void
format_checkpoint(struct formatter *formatter, const struct process *process)
{
	text(formatter, process->only ? "checkpoint only" : "checkpoint");
}

static void
format_process(struct formatter *formatter, const struct process *process)
{
	static void (*const formats[])(
	    struct formatter *, const struct process *) = {
		[P_CALL] = format_call,
		[P_SEQ] = format_seq,
		[P_PAR] = format_par,
		[P_FORALL] = format_forall,
		[P_FOLD] = format_state,
		[P_WHILE] = format_state,
		[P_REPEAT] = format_repeat,
		[P_DAG] = format_branches,
		[P_RACE] = format_branches,
		[P_IF] = format_if,
		[P_SWITCH] = format_switch,
		[P_TRY] = format_try,
		[P_ATOMIC] = format_atomic,
		[P_WITH] = format_with_block,
		[P_LET] = format_let,
		[P_RETURN] = format_return,
		[P_CHECKPOINT] = format_checkpoint,
	};

	formats[process->kind](formatter, process);
}
