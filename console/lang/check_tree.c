/* The expanded tree: it must be finite, and stay within bounds. */
#include <string.h>

#include "console/lang/checker.h"

enum {
	STEPS_MAX = 10000,
	TREE_DEPTH_MAX = 100,
};

/* A workflow that is being expanded, and the call that led to it. */
struct path {
	const struct path *outer;
	struct decl *decl;
	int length;
};

struct measure {
	size_t size;
	int depth;
	bool has_checkpoint;
};

static void measure_decl(
    struct checker *checker, struct decl *decl, const struct path *outer);

static void
add(struct measure *measure, const struct measure *part)
{
	measure->size += part->size;
	if (measure->size > STEPS_MAX)
		measure->size = STEPS_MAX + 1;
	if (part->depth + 1 > measure->depth)
		measure->depth = part->depth + 1;
	measure->has_checkpoint |= part->has_checkpoint;
}

static char *
path_text(
    struct checker *checker, const struct path *path, const struct decl *first)
{
	char *text = arena_printf(checker->arena, "%s", path->decl->full_name);

	while (path->decl != first && path->outer) {
		path = path->outer;
		text = arena_printf(
		    checker->arena, "%s → %s", path->decl->full_name, text);
	}
	return text;
}

static void
report_cycle(struct checker *checker, const struct process *call,
    const struct path *path)
{
	report(checker->result, path->decl->module->source, call->name.start,
	    "recursion: %s → %s", path_text(checker, path, call->target),
	    call->target->full_name);
	HINT(checker,
	    "A workflow is expanded where it is called, so it can not call "
	    "itself.");
}

/* A checkpoint belongs to the whole instance, wherever it is called. */
static void
check_call_beside(struct checker *checker, const struct process *call,
    const struct path *path)
{
	if (!call->off_line || !call->target->has_checkpoint)
		return;
	report(checker->result, path->decl->module->source, call->name.start,
	    "`%s` has a `checkpoint`, and can not be called in a parallel "
	    "branch or a forall",
	    call->target->full_name);
	HINT(checker, "The whole instance goes back to it, so nothing may run "
	              "beside it.");
}

static void measure_process(struct checker *checker,
    const struct process *process, const struct path *path,
    struct measure *measure);

/* The block of an undo, and the undo itself, count as nodes. */
static void
measure_undo(struct checker *checker, const struct policy *undo,
    const struct path *path, struct measure *measure)
{
	struct measure inner;

	if (!undo)
		return;
	measure_process(checker, undo->undo, path, &inner);
	inner.size++;
	inner.depth++;
	add(measure, &inner);
}

static void
measure_process(struct checker *checker, const struct process *process,
    const struct path *path, struct measure *measure)
{
	const struct process *parts[] = { process->steps, process->body,
		process->otherwise };
	const struct branch *branch;
	const struct process *part;
	struct measure inner;
	size_t i;

	*measure = (struct measure){ 1, 1, process->kind == P_CHECKPOINT };
	if (process->kind == P_CALL && process->target &&
	    !process->target->is_task) {
		if (process->target->mark == DECL_ACTIVE) {
			report_cycle(checker, process, path);
			return;
		}
		measure_decl(checker, process->target, path);
		check_call_beside(checker, process, path);
		inner = (struct measure){ process->target->tree_size,
			process->target->tree_depth,
			process->target->has_checkpoint };
		add(measure, &inner);
	}
	measure_undo(checker, policy_undo(process->policies), path, measure);
	for (branch = process->branches; branch; branch = branch->next) {
		measure_process(checker, branch->body, path, &inner);
		if (process->kind == P_TRY) { /* the catch's own node */
			inner.size++;
			inner.depth++;
		}
		add(measure, &inner);
	}
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (part = parts[i]; part; part = part->next) {
			measure_process(checker, part, path, &inner);
			add(measure, &inner);
		}
	}
}

static void
measure_decl(
    struct checker *checker, struct decl *decl, const struct path *outer)
{
	const struct path path = { outer, decl, outer ? outer->length + 1 : 1 };
	struct measure measure;

	if (decl->mark == DECL_DONE)
		return;
	if (path.length > TREE_DEPTH_MAX) { /* deep enough to be reported */
		decl->tree_size = 1;
		decl->tree_depth = TREE_DEPTH_MAX + 1;
		return;
	}
	decl->mark = DECL_ACTIVE;
	measure_process(checker, decl->body, &path, &measure);
	decl->tree_size = measure.size;
	decl->tree_depth = measure.depth;
	decl->has_checkpoint = measure.has_checkpoint;
	decl->mark = DECL_DONE;
}

void
check_tree(struct checker *checker, struct decl *decl)
{
	measure_decl(checker, decl, NULL);
	if (decl->tree_size > STEPS_MAX)
		COMPLAIN(checker, decl->name.start,
		    "`%s` has more than %d steps when expanded",
		    decl->full_name, STEPS_MAX);
	else if (decl->tree_depth > TREE_DEPTH_MAX)
		COMPLAIN(checker, decl->name.start,
		    "`%s` is more than %d levels deep when expanded",
		    decl->full_name, TREE_DEPTH_MAX);
}
