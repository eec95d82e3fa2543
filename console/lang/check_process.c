/* Processes: names, order, types. */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/find.h"
#include "console/lang/source.h"

void
check_unsupported(struct checker *checker, size_t start, const char *feature,
    const char *instead)
{
	COMPLAIN(checker, start, "not supported yet: `%s`", feature);
	if (instead)
		HINT(checker, "%s", instead);
}

/* Whether every path through the steps ends with `return`. */
static bool
always_returns(const struct process *steps)
{
	const struct process *step = steps;
	const struct branch *branch;

	while (step && step->next)
		step = step->next;
	if (!step)
		return false;
	switch (step->kind) {
	case P_RETURN:
		return true;
	case P_SEQ:
		return always_returns(step->steps);
	case P_WITH:
		return always_returns(step->body->steps);
	case P_IF:
		return step->otherwise && always_returns(step->body) &&
		       always_returns(step->otherwise);
	case P_SWITCH: /* a value may have no case */
	case P_TRY:
		for (branch = step->branches; branch; branch = branch->next)
			if (!branch->is_finally &&
			    !always_returns(branch->body))
				return false;
		return !step->body || always_returns(step->body);
	default:
		return false;
	}
}

static void
check_steps(struct checker *checker, struct process *steps, bool main_line)
{
	struct known *before = checker->known;
	struct process *step;

	for (step = steps; step; step = step->next) {
		check_process(checker, step, main_line);
		if (step->kind == P_RETURN && step->next)
			COMPLAIN(checker, step->next->start,
			    "nothing after `return` is ever reached");
		if (step->kind == P_IF && !step->otherwise &&
		    always_returns(step->body)) /* it was false then */
			narrow(checker, step->condition, false);
	}
	narrow_end(checker, before);
}

static void
check_seq(struct checker *checker, struct process *seq, bool main_line)
{
	check_steps(checker, seq->steps, main_line);
}

static void
check_leaf(struct checker *checker, struct process *call, bool main_line)
{
	call->off_line = !main_line;
	check_call(checker, call);
	check_undo(checker, call->policies);
}

static void
check_calls(struct checker *checker, struct process *atomic, bool main_line)
{
	(void)main_line;
	check_atomic(checker, atomic);
}

/*
 * A name that one branch binds cannot be read in another branch, nor bound
 * again.
 */
static void
check_par(struct checker *checker, struct process *par, bool main_line)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *outer = checker->scope->lists[BINDING_BESIDE];
	struct beside frame = {
		.outer = checker->beside, .start = par->start, .end = par->end
	};
	struct process *branch;

	(void)main_line;
	checker->beside = &frame;
	for (branch = par->steps; branch; branch = branch->next) {
		frame.branch_start = branch->start;
		frame.branch_end = branch->end;
		check_process(checker, branch, false);
		scope_give(checker, BINDING_BESIDE, scope_take(checker, mark));
	}
	checker->beside = frame.outer;
	scope_join(checker, outer);
}

/* Each branch sees only its own names; the winner's names leave the race. */
static void
check_race(struct checker *checker, struct process *race, bool main_line)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *one = NULL, *other;
	struct beside frame = {
		.outer = checker->beside, .start = race->start, .end = race->end
	};
	struct process *branch;
	struct scope scope;

	(void)main_line;
	checker->beside = &frame;
	for (branch = race->steps; branch; branch = branch->next) {
		frame.branch_start = branch->start;
		frame.branch_end = branch->end;
		scope_enter(checker, &scope);
		check_process(checker, branch, false);
		other = scope_leave_branch(checker);
		if (branch != race->steps) {
			scope_merge(checker, one, other);
			other = scope_take(checker, mark);
		}
		one = other;
	}
	checker->beside = frame.outer;
	scope_give(checker, BINDING_VISIBLE, one);
}

static void
check_if(struct checker *checker, struct process *process, bool main_line)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *one, *other = NULL;
	struct known *before;

	check_condition(checker, process->condition, "a condition");
	before = narrow(checker, process->condition, true);
	check_process(checker, process->body, main_line);
	one = scope_take(checker, mark);
	narrow_end(checker, before);
	if (process->otherwise) {
		narrow(checker, process->condition, false);
		check_process(checker, process->otherwise, main_line);
		other = scope_take(checker, mark);
		narrow_end(checker, before);
	}
	scope_merge(checker, one, other);
}

/* The record {kind, message, detail, process, attempt, cause}. */
static const struct type *
error_type(struct checker *checker)
{
	const struct type *json =
	    type_optional(checker->arena, &type_basic[TYPE_JSON]);
	const struct field made[] = {
		{ NULL, "kind", &type_basic[TYPE_STRING] },
		{ NULL, "message", &type_basic[TYPE_STRING] },
		{ NULL, "detail", json },
		{ NULL, "process", &type_basic[TYPE_INT] },
		{ NULL, "attempt", &type_basic[TYPE_INT] },
		{ NULL, "cause", json },
	};
	struct field *fields = NULL, *field;
	size_t i;

	for (i = sizeof(made) / sizeof(made[0]); i-- > 0; fields = field) {
		field = arena_alloc(checker->arena, sizeof(*field));
		*field = made[i];
		field->next = fields;
	}
	return type_object(checker->arena, fields);
}

static bool
is_used(const struct checker *checker, const char *name)
{
	const struct param *param;
	const struct caught *caught;
	struct found found;

	for (param = checker->decl->params; param; param = param->next)
		if (strcmp(param->name.text, name) == 0)
			return true;
	for (caught = checker->caught; caught; caught = caught->next)
		if (strcmp(caught->name, name) == 0)
			return true;
	return find_binding(checker->decl->body, name, &found);
}

/*
 * In the tree the error of a catch or finally is a name of the scope around the
 * try.  If two tries in that scope use the same name, the tree has two
 * different names.
 */
static const char *
name_in_tree(struct checker *checker, const char *name)
{
	struct caught *caught = arena_alloc(checker->arena, sizeof(*caught));
	int i = 1;

	caught->name = name;
	while (is_used(checker, caught->name))
		caught->name =
		    arena_printf(checker->arena, "__%s_%d", name, ++i);
	caught->next = checker->caught;
	checker->caught = caught;
	return caught->name;
}

/* Bind the name of a catch or finally. */
static struct binding *
check_catch(struct checker *checker, struct branch *branch, bool main_line)
{
	struct scope *scope = checker->scope;
	struct binding *mark = scope->lists[BINDING_VISIBLE];
	struct binding *bound, *error;

	scope_bind(checker, &branch->name,
	    branch->is_finally
	        ? type_optional(checker->arena, error_type(checker))
	        : error_type(checker));
	error = scope->lists[BINDING_VISIBLE];
	if (error == mark)
		/* the name is missing, or an error was reported for it */
		error = NULL;
	branch->tree_name = branch->name.text;
	if (error)
		error->tree_name = branch->tree_name =
		    name_in_tree(checker, branch->name.text);
	if (branch->when)
		check_condition(checker, branch->when, "a condition");
	check_process(checker, branch->body, main_line);
	bound = scope_take(checker, error ? error : mark);
	if (error)
		scope_take(checker, mark);
	return bound;
}

static void
check_try(struct checker *checker, struct process *process, bool main_line)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *shown = checker->scope->lists[BINDING_GIVEN_UP];
	struct binding *bound, *last = NULL;
	struct branch *branch;

	check_process(checker, process->body, main_line);
	bound = scope_take(checker, mark);
	scope_show(checker, BINDING_GIVEN_UP, bound);
	for (branch = process->branches; branch && !branch->is_finally;
	     branch = branch->next) {
		scope_merge(
		    checker, bound, check_catch(checker, branch, main_line));
		bound = scope_take(checker, mark);
	}
	scope_show_end(checker, shown);
	if (branch) {
		/*
		 * a finally is not an alternative: it may not bind names of the
		 * others
		 */
		scope_show(checker, BINDING_VISIBLE, bound);
		last = check_catch(checker, branch, false);
		scope_take(checker, mark);
	}
	scope_give(checker, BINDING_VISIBLE, bound);
	scope_give(checker, BINDING_VISIBLE, last);
}

/* The length of a number without zeros at the end of its fraction. */
static size_t
number_length(const char *text)
{
	size_t len = strlen(text);

	if (!strchr(text, '.') || strpbrk(text, "eE"))
		return len;
	while (text[len - 1] == '0')
		len--;
	return text[len - 1] == '.' ? len - 1 : len;
}

/* Whether both are literals of the same value. */
static bool
is_same_literal(const struct expr *a, const struct expr *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case E_NULL:
		return true;
	case E_BOOL:
		return a->is_true == b->is_true;
	case E_NUMBER:
		return number_length(a->text) == number_length(b->text) &&
		       memcmp(a->text, b->text, number_length(a->text)) == 0;
	case E_STRING:
	case E_DURATION:
		return strcmp(a->text, b->text) == 0;
	case E_UNARY:
		return a->op == T_MINUS && b->op == T_MINUS &&
		       is_same_literal(check_bare(a->a), check_bare(b->a));
	default:
		return false;
	}
}

/* Compare a case with the values of the cases before it. */
static void
check_only_once(
    struct checker *checker, const struct process *process, struct expr *value)
{
	const struct branch *branch;
	struct expr *before;

	for (branch = process->branches; branch; branch = branch->next) {
		for (before = branch->values; before; before = before->next) {
			if (before == value)
				return;
			if (!is_same_literal(
			        check_bare(before), check_bare(value)))
				continue;
			COMPLAIN(checker, value->start,
			    "this value has a case already");
			HINT(checker, "The case in line %d is taken.",
			    source_line_at(
			        checker->module->source, before->start));
			return;
		}
	}
}

static void
check_switch(struct checker *checker, struct process *process, bool main_line)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *one = NULL, *other;
	struct branch *branch;
	struct expr *value;

	check_value(checker, process->value);
	for (branch = process->branches; branch; branch = branch->next) {
		for (value = branch->values; value; value = value->next) {
			check_value(checker, value);
			check_case(checker, process->value, value);
			check_only_once(checker, process, value);
		}
	}
	for (branch = process->branches; branch; branch = branch->next) {
		check_process(checker, branch->body, main_line);
		other = scope_take(checker, mark);
		if (branch != process->branches) {
			scope_merge(checker, one, other);
			other = scope_take(checker, mark);
		}
		one = other;
	}
	scope_give(checker, BINDING_VISIBLE, one);
}

static void
check_with(struct checker *checker, struct process *with, bool main_line)
{
	check_policies(checker, with->policies,
	    is_only_atomic(with->body) ? POLICIES_OF_TASK : POLICIES_OF_BLOCK);
	check_process(checker, with->body, main_line);
	check_undo(checker, with->policies);
}

static void
check_let(struct checker *checker, struct process *let, bool main_line)
{
	(void)main_line;
	check_value(checker, let->value);
	let->type = let->value->type;
	if (let->type_syntax) {
		let->type = check_type(checker, let->type_syntax);
		convert(checker, let->value, let->type,
		    arena_printf(checker->arena, "`%s`", let->name.text));
	} else if (let->type->kind == TYPE_NULL) {
		let->type =
		    type_optional(checker->arena, &type_basic[TYPE_JSON]);
	}
	scope_bind(checker, &let->name, let->type);
}

static void
check_return(struct checker *checker, struct process *process, bool main_line)
{
	const struct type *returns = checker->decl->returns;

	if (!main_line) {
		COMPLAIN(checker, process->start,
		    "`return` can not stand in a parallel branch, a forall, a "
		    "finally or an undo");
		HINT(checker, "It ends the whole workflow; collect what the "
		              "branches give and return it after them.");
	}
	if (process->value && returns)
		check_value_as(
		    checker, process->value, returns, "the returned value");
	else if (process->value)
		check_value(checker, process->value);
	else if (returns && !returns->optional)
		COMPLAIN(checker, process->start,
		    "`return` needs a value of type `%s`",
		    type_text(checker->arena, returns));
}

static void
check_checkpoint(struct checker *checker, struct process *step, bool main_line)
{
	if (main_line)
		return;
	COMPLAIN(checker, step->start,
	    "`checkpoint` can not stand in a parallel branch, a forall, a "
	    "finally or an undo");
	HINT(checker, "The whole instance goes back to it, so nothing may run "
	              "beside it.");
}

void
check_unknown(struct checker *checker, const struct process *process)
{
	const struct process *parts[] = { process->steps, process->body,
		process->otherwise };
	const struct type *type = &type_basic[TYPE_ERROR];
	const struct collect *collect;
	const struct branch *branch;
	const struct process *part;
	size_t i;

	if (process->kind == P_CALL && process->as.text)
		scope_add(checker, &process->as, type);
	if (process->kind == P_LET)
		scope_add(checker, &process->name, type);
	for (collect = process->collects; collect; collect = collect->next)
		scope_add(checker, &collect->as, type);
	for (branch = process->branches; branch; branch = branch->next)
		check_unknown(checker, branch->body);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (part = parts[i]; part; part = part->next)
			check_unknown(checker, part);
}

static void (*const checks[])(struct checker *, struct process *, bool) = {
	[P_CALL] = check_leaf,
	[P_SEQ] = check_seq,
	[P_PAR] = check_par,
	[P_FORALL] = check_forall,
	[P_FOLD] = check_fold,
	[P_WHILE] = check_while,
	[P_REPEAT] = check_repeat,
	[P_DAG] = check_dag,
	[P_RACE] = check_race,
	[P_IF] = check_if,
	[P_SWITCH] = check_switch,
	[P_TRY] = check_try,
	[P_ATOMIC] = check_calls,
	[P_WITH] = check_with,
	[P_LET] = check_let,
	[P_RETURN] = check_return,
	[P_CHECKPOINT] = check_checkpoint,
};

void
check_process(struct checker *checker, struct process *process, bool main_line)
{
	checks[process->kind](checker, process, main_line);
}

void
check_workflow(struct checker *checker, struct decl *decl)
{
	struct scope scope;
	struct param *param;

	checker->caught = NULL;
	scope_enter(checker, &scope);
	for (param = decl->params; param; param = param->next)
		scope_add(checker, &param->name, param->type);
	check_policies(checker, decl->policies, POLICIES_OF_WORKFLOW);
	check_no_undo(checker, decl->policies);
	check_steps(checker, decl->body->steps, true);
	scope_leave(checker);
	if (decl->returns && !decl->returns->optional &&
	    !always_returns(decl->body)) {
		COMPLAIN(checker, decl->name.start,
		    "`%s` can end without returning its `%s`", decl->full_name,
		    type_text(checker->arena, decl->returns));
		HINT(checker, "End it with `return …`.");
	}
}
