/* An atomic: which calls it may have, and what they may read. */
#include <string.h>

#include "console/lang/checker.h"

static bool
is_listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Whether the type's one request is a SQL statement on the usual connection. */
static bool
is_statement(const struct decl *type)
{
	static const char *const args[] = { "statement", "params", "rows",
		"timeout", NULL };
	const struct clause *start = type->clauses;
	const struct arg *arg;

	if (!start || start->next || start->kind != R_START ||
	    strcmp(start->transport.text, "sql") != 0)
		return false;
	for (arg = start->args; arg; arg = arg->next)
		if (!is_listed(arg->name.text, args))
			return false;
	return true;
}

/* A policy of a call's task type that has no effect inside an atomic. */
static void
check_type_policies(struct checker *checker, const struct process *call)
{
	static const char *const fine[] = { "idempotent", "title", NULL };
	const struct policy *policy = call->target->policies;

	for (; policy; policy = policy->next) {
		if (is_listed(policy->name.text, fine))
			continue;
		COMPLAIN(checker, call->name.start,
		    "the policy `%s` of `%s` does not reach an `atomic`",
		    policy->name.text, call->target->full_name);
		HINT(checker, "Write it around the atomic: "
		              "with … { atomic { … } }.");
	}
}

static void
check_member(struct checker *checker, struct process *call)
{
	check_call(checker, call);
	if (call->policies) {
		COMPLAIN(checker, call->policies->start,
		    "a call in an `atomic` has no policies of its own");
		HINT(checker, "Write them around the atomic: "
		              "with … { atomic { … } }.");
	}
	if (!call->target)
		return;
	if (!call->target->is_task) {
		COMPLAIN(checker, call->name.start,
		    "`%s` is a workflow; an `atomic` takes SQL tasks only",
		    call->target->full_name);
	} else if (!is_statement(call->target)) {
		COMPLAIN(checker, call->name.start,
		    "`%s` is not a SQL task of one request",
		    call->target->full_name);
		HINT(checker,
		    "An `atomic` is one transaction: the only clause of its "
		    "task types is `start sql(…)`.");
	} else {
		check_type_policies(checker, call);
	}
}

/* The arguments of all calls are evaluated before any call has a result. */
void
check_atomic(struct checker *checker, struct process *atomic)
{
	struct binding *mark = checker->scope->lists[BINDING_VISIBLE];
	struct binding *outer = checker->scope->lists[BINDING_BESIDE];
	struct beside frame = { .outer = checker->beside,
		.start = atomic->start,
		.end = atomic->end,
		.is_atomic = true };
	struct process *call;

	checker->beside = &frame;
	for (call = atomic->steps; call; call = call->next) {
		frame.branch_start = call->start;
		frame.branch_end = call->end;
		check_member(checker, call);
		scope_give(checker, BINDING_BESIDE, scope_take(checker, mark));
	}
	checker->beside = frame.outer;
	scope_join(checker, outer);
}

bool
is_only_atomic(const struct process *block)
{
	return block->steps && !block->steps->next &&
	       block->steps->kind == P_ATOMIC;
}
