#include "console/lang/find.h"

#include <string.h>

#include "console/lang/ast.h"

static bool
is_bound(const struct name *bound, const char *name, struct found *found)
{
	if (!bound->text || strcmp(bound->text, name) != 0)
		return false;
	found->start = bound->start;
	return true;
}

/* Whether the process itself binds the name, not its body. */
static bool
binds(const struct process *process, const char *name, struct found *found)
{
	const struct collect *collect;

	if (process->kind == P_CALL)
		return is_bound(&process->as, name, found);
	if (process->kind == P_LET)
		return is_bound(&process->name, name, found);
	for (collect = process->collects; collect; collect = collect->next)
		if (is_bound(&collect->as, name, found))
			return true;
	return false;
}

static bool
is_loop(const struct process *process)
{
	return process->kind == P_FORALL || process->kind == P_FOLD ||
	       process->kind == P_WHILE || process->kind == P_REPEAT;
}

static bool
find_in_loop(const struct process *loop, const char *name, struct found *found)
{
	if (!is_bound(&loop->name, name, found) &&
	    !is_bound(&loop->index, name, found) &&
	    !is_bound(&loop->as, name, found) &&
	    !find_binding(loop->body, name, found))
		return false;
	found->loop = true;
	found->yields = loop->kind != P_FORALL;
	found->loop_start = loop->start;
	found->loop_end = loop->end;
	return true;
}

static bool
find_in_undo(
    const struct policy *policies, const char *name, struct found *found)
{
	const struct policy *policy;

	for (policy = policies; policy; policy = policy->next) {
		if (!find_binding(policy->undo, name, found))
			continue;
		found->undo = true;
		found->undo_start = policy->start;
		found->undo_end = policy->end;
		return true;
	}
	return false;
}

bool
find_binding(
    const struct process *process, const char *name, struct found *found)
{
	const struct process *step;
	const struct branch *branch;

	found->loop = false;
	found->undo = false;
	if (!process)
		return false;
	if (binds(process, name, found))
		return true;
	if (find_in_undo(process->policies, name, found))
		return true;
	for (step = process->steps; step; step = step->next)
		if (find_binding(step, name, found))
			return true;
	for (branch = process->branches; branch; branch = branch->next)
		if (find_binding(branch->body, name, found))
			return true;
	if (is_loop(process))
		return find_in_loop(process, name, found);
	return find_binding(process->body, name, found) ||
	       find_binding(process->otherwise, name, found);
}
