/* Nodes of the compiled tree. */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/emitter.h"
#include "console/lang/source.h"

static void emit_node(struct emitter *emitter, const struct process *process,
    const struct effects *effects);
static void emit_body(struct emitter *emitter, const struct process *body,
    const struct effects *effects);

int
emit_line(const struct emitter *emitter, size_t start)
{
	return source_line_at(emitter->source, start);
}

static void
begin(struct emitter *emitter, const char *kind, const struct process *node)
{
	buf_addf(&emitter->out, "{\"kind\":\"%s\",\"line\":%d", kind,
	    emit_line(emitter, node->start));
}

static void
emit_name(struct emitter *emitter, const char *key, const struct name *name)
{
	if (!name->text)
		return;
	buf_addf(&emitter->out, ",\"%s\":", key);
	emit_string(emitter, name->text);
}

void
reads_add(struct reads *reads, const struct expr *expr)
{
	const struct read *read;
	struct read **tail;

	for (read = expr ? expr->reads : NULL; read; read = read->next) {
		for (tail = &reads->list; *tail; tail = &(*tail)->next)
			if (strcmp((*tail)->name, read->name) == 0)
				break;
		if (*tail)
			continue;
		*tail = arena_alloc(reads->arena, sizeof(**tail));
		(*tail)->name = read->name;
		(*tail)->depth = read->depth;
	}
}

static void
reads_add_policies(struct reads *reads, const struct effects *effects)
{
	const struct arg *arg;
	int i;

	for (i = 0; i < POLICIES; i++)
		for (arg = effects->of[i] ? effects->of[i]->args : NULL; arg;
		     arg = arg->next)
			reads_add(reads, arg->value);
}

static void
emit_reads(struct emitter *emitter, const char *key, const struct reads *reads)
{
	const struct read *read;

	if (!reads->list)
		return;
	buf_addf(&emitter->out, ",\"%s\":{", key);
	for (read = reads->list; read; read = read->next) {
		emit_string(emitter, read->name);
		buf_addf(
		    &emitter->out, ":%d%s", read->depth, read->next ? "," : "");
	}
	buf_adds(&emitter->out, "}");
}

static const struct arg *
find_arg(const struct process *call, const char *name)
{
	const struct arg *arg;

	for (arg = call->args; arg; arg = arg->next)
		if (strcmp(arg->name.text, name) == 0)
			return arg;
	return NULL;
}

/*
 * All parameters in their order; those that are left out have their defaults.
 */
static void
emit_call_args(
    struct emitter *emitter, const struct process *call, struct reads *reads)
{
	const struct param *param;
	const struct arg *arg;
	const struct expr *value;

	for (param = call->target->params; param; param = param->next) {
		arg = find_arg(call, param->name.text);
		value = arg ? arg->value : param->value;
		emit_string(emitter, param->name.text);
		buf_adds(&emitter->out, ":");
		emit_expr(emitter, value);
		reads_add(reads, value);
		buf_adds(&emitter->out, param->next ? "," : "");
	}
}

/*
 * The declaration of a called workflow: a text is printed from the tree alone.
 */
static void
emit_declared(struct emitter *emitter, const struct decl *target)
{
	const struct param *param;
	const char *open = ",\"params\":[{\"name\":";

	for (param = target->params; param; param = param->next) {
		buf_adds(&emitter->out, open);
		emit_string(emitter, param->name.text);
		buf_adds(&emitter->out, ",\"type\":");
		type_emit(&emitter->out, param->type);
		open = "},{\"name\":";
	}
	if (target->params)
		buf_adds(&emitter->out, "}]");
	if (target->returns) {
		buf_adds(&emitter->out, ",\"returns\":");
		type_emit(&emitter->out, target->returns);
	}
}

static void
use_type(struct emitter *emitter, struct decl *decl)
{
	struct used **at = &emitter->used, *used;

	while (*at && strcmp((*at)->decl->full_name, decl->full_name) < 0)
		at = &(*at)->next;
	if (*at && (*at)->decl == decl)
		return;
	used = arena_alloc(emitter->arena, sizeof(*used));
	used->decl = decl;
	used->next = *at;
	*at = used;
}

/* The undo gets the policies around the node, and not those of the node. */
static void
emit_undo(struct emitter *emitter, const struct policy *policies,
    const struct effects *around)
{
	const struct policy *undo = policy_undo(policies);

	if (!undo)
		return;
	buf_addf(&emitter->out,
	    ",\"undo\":{\"kind\":\"undo\",\"line\":%d,\"body\":",
	    emit_line(emitter, undo->start));
	emit_body(emitter, undo->undo, around);
	buf_adds(&emitter->out, "}");
}

static void
emit_task(struct emitter *emitter, const struct process *task,
    const struct effects *around)
{
	struct effects effects =
	    effects_of_task(emitter, around, task->policies);
	struct reads reads = { emitter->arena, NULL };

	use_type(emitter, task->target);
	begin(emitter, "task", task);
	buf_adds(&emitter->out, ",\"type\":");
	emit_string(emitter, task->target->full_name);
	buf_adds(&emitter->out, ",\"args\":{");
	emit_call_args(emitter, task, &reads);
	buf_adds(&emitter->out, "}");
	emit_name(emitter, "as", &task->as);
	emit_policies(emitter, &effects);
	emit_undo(emitter, task->policies, around);
	reads_add_policies(&reads, &effects);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

/*
 * The steps of a workflow that is called.  If it has policies for its steps as
 * a whole, the steps are put into a block with these policies.
 */
static void
emit_expansion(struct emitter *emitter, const struct decl *target,
    const struct effects *around)
{
	const struct source *source = emitter->source;
	struct effects own = effects_of_steps(emitter, target->policies);
	struct effects effects =
	    effects_inside(emitter, around, target->policies);
	struct reads reads = { emitter->arena, NULL };

	emitter->source = target->module->source;
	if (effects_any(&own))
		buf_addf(&emitter->out,
		    "[{\"kind\":\"seq\",\"line\":%d,\"steps\":",
		    emit_line(emitter, target->start));
	emit_steps(emitter, target->body->steps, &effects);
	if (effects_any(&own)) {
		emit_policies(emitter, &own);
		reads_add_policies(&reads, &own);
		emit_reads(emitter, "reads", &reads);
		buf_adds(&emitter->out, "}]");
	}
	emitter->source = source;
}

static void
emit_call(struct emitter *emitter, const struct process *call,
    const struct effects *around)
{
	struct effects own = effects_of_call(emitter, call);
	struct effects effects =
	    effects_inside(emitter, around, call->policies);
	struct reads reads = { emitter->arena, NULL };

	if (call->target->is_task) {
		emit_task(emitter, call, around);
		return;
	}
	effects = effects_reaching(emitter, &effects, call->target->policies);
	begin(emitter, "call", call);
	buf_adds(&emitter->out, ",\"workflow\":");
	emit_string(emitter, call->target->full_name);
	buf_adds(&emitter->out, ",\"args\":{");
	emit_call_args(emitter, call, &reads);
	effects = effects_pass(emitter, &effects, &reads);
	buf_adds(&emitter->out, "}");
	emit_declared(emitter, call->target);
	buf_adds(&emitter->out, ",\"steps\":");
	emit_expansion(emitter, call->target, &effects);
	emit_name(emitter, "as", &call->as);
	emit_policies(emitter, &own);
	emit_undo(emitter, call->policies, around);
	reads_add_policies(&reads, &own);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

/*
 * A group of one step is that step, unless it has policies of its own.
 * `around` has the policies that reach its undo.
 */
static void
emit_seq(struct emitter *emitter, const struct process *seq,
    const struct effects *effects, const struct policy *policies,
    const struct effects *around)
{
	struct effects own = effects_of_node(emitter, policies);
	struct reads reads = { emitter->arena, NULL };

	if (seq->steps && !seq->steps->next && !effects_any(&own) &&
	    !policy_undo(policies)) {
		emit_node(emitter, seq->steps, effects);
		return;
	}
	begin(emitter, "seq", seq);
	buf_adds(&emitter->out, ",\"steps\":");
	emit_steps(emitter, seq->steps, effects);
	emit_policies(emitter, &own);
	emit_undo(emitter, policies, around);
	reads_add_policies(&reads, &own);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_group(struct emitter *emitter, const struct process *seq,
    const struct effects *effects)
{
	emit_seq(emitter, seq, effects, NULL, effects);
}

/* An atomic is one task: it has the policies, and its calls have none. */
static void
emit_atomic(struct emitter *emitter, const struct process *atomic,
    const struct effects *around, const struct policy *policies)
{
	const struct effects effects =
	    effects_of_task(emitter, around, policies);
	const struct effects none = { 0 };
	struct reads reads = { emitter->arena, NULL };

	begin(emitter, "atomic", atomic);
	buf_adds(&emitter->out, ",\"steps\":");
	emit_steps(emitter, atomic->steps, &none);
	emit_policies(emitter, &effects);
	emit_undo(emitter, policies, around);
	reads_add_policies(&reads, &effects);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_calls(struct emitter *emitter, const struct process *atomic,
    const struct effects *effects)
{
	emit_atomic(emitter, atomic, effects, NULL);
}

static void
emit_with(struct emitter *emitter, const struct process *with,
    const struct effects *around)
{
	struct effects effects =
	    effects_inside(emitter, around, with->policies);

	if (is_only_atomic(with->body)) {
		emit_atomic(emitter, with->body->steps, around, with->policies);
		return;
	}
	emit_seq(emitter, with->body, &effects, with->policies, around);
}

static void
emit_par(struct emitter *emitter, const struct process *par,
    const struct effects *effects)
{
	begin(emitter, "par", par);
	buf_adds(&emitter->out, ",\"branches\":");
	emit_steps(emitter, par->steps, effects);
	buf_adds(&emitter->out, "}");
}

/* For each step a list of the ordinals of the steps that it comes after. */
static void
emit_dag(struct emitter *emitter, const struct process *dag,
    const struct effects *effects)
{
	const struct process *step;
	size_t i;

	begin(emitter, "dag", dag);
	buf_adds(&emitter->out, ",\"branches\":");
	emit_steps(emitter, dag->steps, effects);
	buf_adds(&emitter->out, ",\"after\":[");
	for (step = dag->steps; step; step = step->next) {
		buf_adds(&emitter->out, "[");
		for (i = 0; i < step->before_count; i++)
			buf_addf(&emitter->out, "%s%zu", i > 0 ? "," : "",
			    step->before[i]);
		buf_adds(&emitter->out, step->next ? "]," : "]");
	}
	buf_adds(&emitter->out, "]}");
}

static void
emit_collects(struct emitter *emitter, const struct collect *collect)
{
	struct reads reads = { emitter->arena, NULL };

	if (!collect)
		return;
	buf_adds(&emitter->out, ",\"collect\":[");
	for (; collect; collect = collect->next) {
		buf_adds(&emitter->out, "{\"as\":");
		emit_string(emitter, collect->as.text);
		emit_member(emitter, "value", collect->value);
		reads_add(&reads, collect->value);
		buf_adds(&emitter->out, collect->next ? "}," : "}");
	}
	buf_adds(&emitter->out, "]");
	emit_reads(emitter, "collect_reads", &reads);
}

/* Whether it compiles to a call only. */
static bool
is_call(struct emitter *emitter, const struct process *process)
{
	struct effects own;

	while (process->kind != P_CALL) {
		own = effects_of_node(emitter, process->policies);
		if (process->kind == P_WITH && !effects_any(&own) &&
		    !policy_undo(process->policies))
			process = process->body;
		else if (process->kind == P_SEQ && process->steps &&
		         !process->steps->next)
			process = process->steps;
		else
			return false;
	}
	return !process->target->is_task;
}

/*
 * The body of a forall or a branch of a race opens a scope.  If that is a call,
 * it is wrapped, because a call has another scope of its own.
 */
static void
emit_body(struct emitter *emitter, const struct process *body,
    const struct effects *effects)
{
	if (!is_call(emitter, body)) {
		emit_node(emitter, body, effects);
		return;
	}
	begin(emitter, "seq", body);
	buf_adds(&emitter->out, ",\"steps\":[");
	emit_node(emitter, body, effects);
	buf_adds(&emitter->out, "]}");
}

static void
emit_race(struct emitter *emitter, const struct process *race,
    const struct effects *effects)
{
	const struct process *branch;

	begin(emitter, "race", race);
	buf_adds(&emitter->out, ",\"branches\":[");
	for (branch = race->steps; branch; branch = branch->next) {
		emit_body(emitter, branch, effects);
		buf_adds(&emitter->out, branch->next ? "," : "]}");
	}
}

static void
emit_attr(struct emitter *emitter, const struct process *forall,
    const char *name, struct reads *reads)
{
	const struct arg *attr = find_arg(forall, name);

	if (!attr)
		return;
	emit_member(emitter, name, attr->value);
	reads_add(reads, attr->value);
}

static void
emit_forall(struct emitter *emitter, const struct process *forall,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, NULL };

	begin(emitter, "forall", forall);
	emit_name(emitter, "name", &forall->name);
	emit_name(emitter, "index", &forall->index);
	emit_member(emitter, "in", forall->value);
	reads_add(&reads, forall->value);
	emit_attr(emitter, forall, "max", &reads);
	emit_attr(emitter, forall, "tolerate", &reads);
	buf_adds(&emitter->out, ",\"body\":");
	emit_body(emitter, forall->body, effects);
	emit_reads(emitter, "reads", &reads);
	emit_collects(emitter, forall->collects);
	buf_adds(&emitter->out, "}");
}

/* The yield of a round, and the names that the end of a round reads. */
static void
emit_round(struct emitter *emitter, const struct process *loop)
{
	struct reads reads = { emitter->arena, NULL };
	const struct collect *yield = loop->collects;

	if (loop->kind != P_FOLD) {
		emit_member(emitter, loop->kind == P_WHILE ? "while" : "until",
		    loop->condition);
		reads_add(&reads, loop->condition);
	}
	if (yield) {
		buf_adds(&emitter->out, ",\"yield\":{\"as\":");
		emit_string(emitter, yield->as.text);
		emit_member(emitter, "value", yield->value);
		buf_adds(&emitter->out, "}");
		reads_add(&reads, yield->value);
	}
	emit_reads(emitter, "round_reads", &reads);
}

static void
emit_fold(struct emitter *emitter, const struct process *fold,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, NULL };

	begin(emitter, "fold", fold);
	emit_name(emitter, "name", &fold->name);
	emit_name(emitter, "element", &fold->as);
	buf_adds(&emitter->out, ",\"over\":[\"list\",");
	emit_expr(emitter, fold->value);
	buf_adds(&emitter->out, ",");
	emit_expr(emitter, fold->condition);
	buf_adds(&emitter->out, "],\"body\":");
	reads_add(&reads, fold->value);
	reads_add(&reads, fold->condition);
	emit_body(emitter, fold->body, effects);
	emit_round(emitter, fold);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

/* while and repeat */
static void
emit_loop(struct emitter *emitter, const struct process *loop,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, NULL };

	begin(emitter, loop->kind == P_WHILE ? "while" : "repeat", loop);
	emit_name(emitter, "name", &loop->name);
	if (loop->value)
		emit_member(emitter, "start", loop->value);
	reads_add(&reads, loop->value);
	emit_member(emitter, "max", loop->args->value);
	reads_add(&reads, loop->args->value);
	buf_adds(&emitter->out, ",\"body\":");
	emit_body(emitter, loop->body, effects);
	emit_round(emitter, loop);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_if(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, process->condition->reads };

	begin(emitter, "if", process);
	emit_member(emitter, "condition", process->condition);
	buf_adds(&emitter->out, ",\"then\":");
	emit_node(emitter, process->body, effects);
	if (process->otherwise) {
		buf_adds(&emitter->out, ",\"else\":");
		emit_node(emitter, process->otherwise, effects);
	}
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_catch(struct emitter *emitter, const struct branch *branch,
    const struct effects *effects)
{
	const struct name name = { .text = branch->tree_name };
	struct reads reads = { emitter->arena, NULL };

	buf_addf(&emitter->out, "{\"kind\":\"%s\",\"line\":%d",
	    branch->is_finally ? "finally" : "catch",
	    emit_line(emitter, branch->start));
	emit_name(emitter, "name", &name);
	if (branch->when)
		emit_member(emitter, "when", branch->when);
	reads_add(&reads, branch->when);
	buf_adds(&emitter->out, ",\"body\":");
	emit_node(emitter, branch->body, effects);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

/* ["list", the value, for each case a list of its values] */
static void
emit_switch(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, NULL };
	const struct branch *branch;
	const struct expr *value;

	begin(emitter, "switch", process);
	buf_adds(&emitter->out, ",\"on\":[\"list\",");
	emit_expr(emitter, process->value);
	reads_add(&reads, process->value);
	for (branch = process->branches; branch; branch = branch->next) {
		if (!branch->values)
			break;
		buf_adds(&emitter->out, ",[\"list\"");
		for (value = branch->values; value; value = value->next) {
			buf_adds(&emitter->out, ",");
			emit_expr(emitter, value);
			reads_add(&reads, value);
		}
		buf_adds(&emitter->out, "]");
	}
	buf_adds(&emitter->out, "],\"branches\":[");
	for (branch = process->branches; branch; branch = branch->next) {
		emit_node(emitter, branch->body, effects);
		buf_adds(&emitter->out, branch->next ? "," : "]");
	}
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_try(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	const struct branch *branch;
	const char *open = ",\"catches\":[";

	begin(emitter, "try", process);
	buf_adds(&emitter->out, ",\"body\":");
	emit_node(emitter, process->body, effects);
	for (branch = process->branches; branch && !branch->is_finally;
	     branch = branch->next) {
		buf_adds(&emitter->out, open);
		emit_catch(emitter, branch, effects);
		open = ",";
	}
	if (branch != process->branches)
		buf_adds(&emitter->out, "]");
	if (branch) {
		buf_adds(&emitter->out, ",\"finally\":");
		emit_catch(emitter, branch, effects);
	}
	buf_adds(&emitter->out, "}");
}

static void
emit_checkpoint(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	(void)effects;
	begin(emitter, "checkpoint", process);
	buf_adds(&emitter->out, process->only ? ",\"only\":true}" : "}");
}

/* let and return */
static void
emit_value(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	struct reads reads = { emitter->arena, NULL };

	(void)effects;
	begin(emitter, process->kind == P_LET ? "let" : "return", process);
	emit_name(emitter, "as", &process->name);
	if (process->type_syntax) {
		buf_adds(&emitter->out, ",\"type\":");
		type_emit(&emitter->out, process->type);
	}
	if (process->value)
		emit_member(emitter, "value", process->value);
	reads_add(&reads, process->value);
	emit_reads(emitter, "reads", &reads);
	buf_adds(&emitter->out, "}");
}

static void
emit_node(struct emitter *emitter, const struct process *process,
    const struct effects *effects)
{
	static void (*const emits[])(struct emitter *, const struct process *,
	    const struct effects *) = {
		[P_CALL] = emit_call,
		[P_SEQ] = emit_group,
		[P_PAR] = emit_par,
		[P_DAG] = emit_dag,
		[P_RACE] = emit_race,
		[P_FORALL] = emit_forall,
		[P_FOLD] = emit_fold,
		[P_WHILE] = emit_loop,
		[P_REPEAT] = emit_loop,
		[P_IF] = emit_if,
		[P_TRY] = emit_try,
		[P_SWITCH] = emit_switch,
		[P_ATOMIC] = emit_calls,
		[P_WITH] = emit_with,
		[P_LET] = emit_value,
		[P_RETURN] = emit_value,
		[P_CHECKPOINT] = emit_checkpoint,
	};

	emits[process->kind](emitter, process, effects);
}

void
emit_steps(struct emitter *emitter, const struct process *steps,
    const struct effects *effects)
{
	buf_adds(&emitter->out, "[");
	for (; steps; steps = steps->next) {
		emit_node(emitter, steps, effects);
		buf_adds(&emitter->out, steps->next ? "," : "");
	}
	buf_adds(&emitter->out, "]");
}
