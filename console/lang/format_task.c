/* The clauses of task types. */
#include <string.h>

#include "console/lang/formatter.h"

/*
 * The place after the words; if there are several items, on lines of their own.
 */
enum { CLAUSE_COLUMN = 8 };

static const char *const clause_words[] = {
	[R_START] = "start",
	[R_POLL] = "poll",
	[R_FETCH] = "fetch",
	[R_CANCEL] = "cancel",
	[R_CLEANUP] = "cleanup",
	[R_CALLBACK] = "callback",
	[R_WAIT] = "wait",
};

static const char *const sub_words[] = {
	[S_EVERY] = "every",
	[S_HANDLE] = "handle ",
	[S_OUTPUT] = "output ",
	[S_PROGRESS] = "progress",
	[S_SUCCESS] = "success when ",
	[S_FAILURE] = "failure when ",
};

static bool
in_parentheses(enum sub_kind kind)
{
	return kind == S_PROGRESS || kind == S_SUCCESS || kind == S_FAILURE;
}

static void
format_sub(struct formatter *formatter, const struct sub *sub)
{
	format_leading(formatter, sub->start);
	layout_text(formatter->layout, sub_words[sub->kind]);
	if (sub->kind == S_EVERY) {
		format_args(formatter, sub->args, sub->start, "()");
	} else if (in_parentheses(sub->kind)) {
		layout_text(formatter->layout, "(");
		format_expr(formatter, sub->value);
		layout_text(formatter->layout, ")");
	} else {
		format_expr(formatter, sub->value);
	}
	if (sub->as) {
		layout_text(formatter->layout, " as ");
		format_expr(formatter, sub->as);
	}
	format_trailing(formatter, sub->end);
}

static void
format_clause(
    struct formatter *formatter, const struct clause *clause, int column)
{
	const char *word = clause_words[clause->kind];
	const struct sub *sub;

	layout_text(formatter->layout, word);
	layout_indent(formatter->layout, column);
	if (clause->kind != R_CALLBACK) {
		layout_text(
		    formatter->layout, arena_printf(formatter->arena, "%*s%s",
		                           column - (int)strlen(word), "",
		                           clause->transport.text));
	}
	if (clause->kind != R_CALLBACK && clause->kind != R_WAIT)
		format_args(formatter, clause->args, clause->start, "()");
	for (sub = clause->subs; sub; sub = sub->next) {
		layout_hard(formatter->layout, 0);
		format_sub(formatter, sub);
	}
	layout_indent(formatter->layout, -column);
	format_trailing(formatter, clause->end);
}

void
format_clauses(
    struct formatter *formatter, const struct clause *clauses, size_t end)
{
	const struct clause *clause;
	int column = clauses->next
	                 ? CLAUSE_COLUMN
	                 : (int)strlen(clause_words[clauses->kind]) + 1;

	layout_text(formatter->layout, "{");
	layout_indent(formatter->layout, 2);
	for (clause = clauses; clause; clause = clause->next) {
		if (clause == clauses)
			layout_hard(formatter->layout, 0);
		else
			format_separate(formatter, clause->start);
		format_leading(formatter, clause->start);
		format_clause(formatter, clause, column);
	}
	format_rest(formatter, end - 1);
	layout_indent(formatter->layout, -2);
	layout_hard(formatter->layout, 0);
	layout_text(formatter->layout, "}");
}
