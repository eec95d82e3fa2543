/* undo: the steps that run when a node that has ended is given up. */
#include "console/lang/checker.h"

void
check_undo_place(
    struct checker *checker, const struct policy *undo, enum policy_place place)
{
	if (place != POLICIES_OF_TYPE)
		return;
	COMPLAIN(checker, undo->start,
	    "`undo` is for a task, a block or a call, not for a task type");
	HINT(checker, "Write it where the task is called: … with undo { … }.");
}

void
check_no_undo(struct checker *checker, const struct policy *policies)
{
	const struct policy *undo = policy_undo(policies);

	if (!undo)
		return;
	COMPLAIN(checker, undo->start,
	    "`undo` is for a task, a block or a call, not for a workflow");
	HINT(checker, "Write it where the workflow is called, or around its "
	              "steps: with undo { … } { … }.");
}

/* Its names stay inside: nothing comes after it in its scope. */
void
check_undo(struct checker *checker, const struct policy *policies)
{
	const struct policy *undo = policy_undo(policies);
	struct scope *scope;

	if (!undo)
		return;
	scope = arena_alloc(checker->arena, sizeof(*scope));
	scope_enter(checker, scope);
	check_process(checker, undo->undo, false);
	checker->scope = scope->outer;
}
