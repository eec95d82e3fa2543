/* Processes: forall, fold, while and repeat. */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/share.h"

/* An int, or a text that says how many elements are meant. */
static void
check_share(struct checker *checker, const struct arg *attr, bool sums)
{
	struct expr *expr = attr->value;
	const struct expr *literal;

	check_value(checker, expr);
	literal = check_bare(expr);
	if (literal->kind == E_STRING && !share_is_valid(literal->text, sums)) {
		COMPLAIN(checker, expr->start,
		    "`%s` must be a number of elements, not \"%s\"",
		    attr->name.text, literal->text);
		HINT(checker, sums ? "Write an int, \"50%%\", \"all\", sums "
		                     "of them, or \"min(10, 50%%)\"."
		                   : "Write an int or a percentage: \"10%%\".");
	}
	if (expr->type->kind == TYPE_STRING || expr->type->kind == TYPE_JSON)
		check_not_null(checker, expr);
	else
		convert(checker, expr, &type_basic[TYPE_INT],
		    arena_printf(checker->arena, "`%s`", attr->name.text));
	check_between(
	    checker, expr, attr->name.text, sums ? 1 : 0, CHECK_INT_MAX);
}

/*
 * Check the attributes; `attrs` lists those that the form `word` has.  Returns
 * max.
 */
static struct expr *
check_attrs(struct checker *checker, struct process *process, const char *word,
    const char *attrs)
{
	struct expr *max = NULL;
	struct arg *attr, *other;

	for (attr = process->args; attr; attr = attr->next) {
		for (other = process->args; other != attr; other = other->next)
			if (strcmp(other->name.text, attr->name.text) == 0)
				COMPLAIN(checker, attr->start,
				    "`%s` is given twice", attr->name.text);
		if (process->kind == P_FORALL &&
		    (strcmp(attr->name.text, "max") == 0 ||
		        strcmp(attr->name.text, "tolerate") == 0)) {
			check_share(
			    checker, attr, strcmp(attr->name.text, "max") == 0);
		} else if (strcmp(attr->name.text, "max") == 0) {
			max = attr->value;
			check_value_as(
			    checker, max, &type_basic[TYPE_INT], "`max`");
			check_between(checker, max, "max", 1, CHECK_INT_MAX);
		} else {
			COMPLAIN(checker, attr->start,
			    "%s has no attribute `%s`", word, attr->name.text);
			HINT(checker, "It has %s.", attrs);
		}
	}
	return max;
}

static const struct type *
element_type(const struct type *list)
{
	return list->kind == TYPE_LIST && list->element
	           ? list->element
	           : &type_basic[TYPE_JSON];
}

void
check_forall(struct checker *checker, struct process *forall, bool main_line)
{
	struct scope scope;
	struct collect *collect;

	(void)main_line;
	check_attrs(checker, forall, "forall", "`max` and `tolerate`");
	check_value_as(checker, forall->value, &type_basic[TYPE_LIST],
	    "the source of a forall");
	scope_enter(checker, &scope);
	scope_bind(checker, &forall->name, element_type(forall->value->type));
	scope_bind(checker, &forall->index, &type_basic[TYPE_INT]);
	check_process(checker, forall->body, false);
	for (collect = forall->collects; collect; collect = collect->next)
		check_value(checker, collect->value);
	scope_leave(checker);
	for (collect = forall->collects; collect; collect = collect->next)
		scope_bind(checker, &collect->as,
		    type_list(checker->arena, collect->value->type));
}

static void
check_max(struct checker *checker, struct process *loop, const char *word)
{
	if (check_attrs(checker, loop, word, "`max`"))
		return;
	COMPLAIN(checker, loop->start, "%s needs `max`", word);
	HINT(checker, "It says how many rounds there may be at most.");
}

/* The type of a name with this value; of a state, that of its first value. */
static const struct type *
bound_type(struct checker *checker, const struct expr *value)
{
	return value->type->kind == TYPE_NULL
	           ? type_optional(checker->arena, &type_basic[TYPE_JSON])
	           : value->type;
}

void
check_fold(struct checker *checker, struct process *fold, bool main_line)
{
	const struct type *state;
	struct scope scope;

	check_value(checker, fold->value);
	check_value_as(checker, fold->condition, &type_basic[TYPE_LIST],
	    "the source of a fold");
	state = bound_type(checker, fold->value);
	scope_enter(checker, &scope);
	scope_bind(checker, &fold->name, state);
	scope_bind(checker, &fold->as, element_type(fold->condition->type));
	check_process(checker, fold->body, main_line);
	check_value_as(checker, fold->collects->value, state,
	    "the value that a round yields");
	scope_leave(checker);
	scope_bind(checker, &fold->collects->as, state);
}

void
check_while(struct checker *checker, struct process *loop, bool main_line)
{
	const struct type *state;
	struct known *before;
	struct scope scope;

	check_max(checker, loop, "while");
	check_value(checker, loop->value);
	state = bound_type(checker, loop->value);
	scope_enter(checker, &scope);
	scope_bind(checker, &loop->name, state);
	check_condition(checker, loop->condition, "a condition");
	before = narrow(checker, loop->condition, true);
	check_process(checker, loop->body, main_line);
	check_value_as(checker, loop->collects->value, state,
	    "the value that a round yields");
	narrow_end(checker, before);
	scope_leave(checker);
	scope_bind(checker, &loop->collects->as, state);
}

void
check_repeat(struct checker *checker, struct process *loop, bool main_line)
{
	struct collect *yield = loop->collects;
	struct known *before;
	struct scope scope;

	check_max(checker, loop, "repeat");
	scope_enter(checker, &scope);
	check_process(checker, loop->body, main_line);
	check_condition(checker, loop->condition, "a condition");
	before = narrow(checker, loop->condition, true);
	if (yield)
		check_value(checker, yield->value);
	narrow_end(checker, before);
	scope_leave(checker);
	if (yield)
		scope_bind(
		    checker, &yield->as, bound_type(checker, yield->value));
}
