/* Policies: which of them reach a task from the blocks and calls around it. */
#include <string.h>

#include "console/lang/emitter.h"

static bool
reaches_inside(const struct policy_rule *rule, const struct policy *policy)
{
	return rule->reach == REACH_TASKS || policy->each;
}

/* Put a copy at the end of a list. */
static struct arg **
append(struct emitter *emitter, struct arg **tail, const struct arg *arg)
{
	*tail = arena_alloc(emitter->arena, sizeof(**tail));
	**tail = *arg;
	(*tail)->next = NULL;
	return &(*tail)->next;
}

/* A policy, with the arguments that it does not name from the one around it. */
static const struct policy *
merge(struct emitter *emitter, const struct policy *policy,
    const struct policy *around)
{
	struct policy *merged = arena_alloc(emitter->arena, sizeof(*merged));
	struct arg **tail = &merged->args;
	const struct arg *arg;

	*merged = *policy;
	for (arg = policy->args; arg; arg = arg->next)
		tail = append(emitter, tail, arg);
	for (arg = around->args; arg; arg = arg->next)
		if (!policy_arg(policy, arg->name.text))
			tail = append(emitter, tail, arg);
	return merged;
}

/* Those of the policies that reach inside, or the others. */
static void
add(struct emitter *emitter, struct effects *effects,
    const struct policy *policies, bool inside)
{
	const struct policy *policy;
	int i;

	for (policy = policies; policy; policy = policy->next) {
		if (policy->undo)
			continue;
		i = (int)(policy_rule(policy->name.text) - policy_rules);
		if (reaches_inside(&policy_rules[i], policy) != inside)
			continue;
		effects->of[i] = effects->of[i] && policy_rules[i].by_argument
		                     ? merge(emitter, policy, effects->of[i])
		                     : policy;
	}
}

struct effects
effects_inside(struct emitter *emitter, const struct effects *around,
    const struct policy *policies)
{
	struct effects effects = *around;

	add(emitter, &effects, policies, true);
	return effects;
}

struct effects
effects_reaching(struct emitter *emitter, const struct effects *effects,
    const struct policy *policies)
{
	const struct effects nearer =
	    effects_inside(emitter, effects, policies);
	struct effects left = *effects;
	int i;

	for (i = 0; i < POLICIES; i++)
		if (nearer.of[i] != left.of[i] && !policy_rules[i].by_argument)
			left.of[i] = NULL;
	return left;
}

struct effects
effects_of_task(struct emitter *emitter, const struct effects *around,
    const struct policy *policies)
{
	struct effects effects = effects_inside(emitter, around, policies);

	add(emitter, &effects, policies, false);
	return effects;
}

struct effects
effects_of_node(struct emitter *emitter, const struct policy *policies)
{
	struct effects effects = { 0 };

	add(emitter, &effects, policies, false);
	return effects;
}

struct effects
effects_of_call(struct emitter *emitter, const struct process *call)
{
	struct effects effects = effects_of_node(emitter, call->policies);
	const struct policy *policy =
	    policy_find(call->target->policies, "on_failure", false);

	if (policy)
		effects.of[policy_rule("on_failure") - policy_rules] = policy;
	return effects;
}

struct effects
effects_of_steps(struct emitter *emitter, const struct policy *policies)
{
	struct effects effects = effects_of_node(emitter, policies);
	int i;

	for (i = 0; i < POLICIES; i++)
		if (!policy_rules[i].of_blocks)
			effects.of[i] = NULL;
	return effects;
}

bool
effects_any(const struct effects *effects)
{
	int i;

	for (i = 0; i < POLICIES; i++)
		if (effects->of[i])
			return true;
	return false;
}

/* A parameter that the compiler has added to a called workflow. */
static struct expr *
passed(struct emitter *emitter, const char *name)
{
	struct expr *var = arena_alloc(emitter->arena, sizeof(*var));

	var->kind = E_NAME;
	var->text = name;
	var->reads = arena_alloc(emitter->arena, sizeof(*var->reads));
	var->reads->name = name;
	return var;
}

static void
emit_argument(struct emitter *emitter, const char *name)
{
	buf_addf(&emitter->out, "%s\"%s\":",
	    emitter->out.data[emitter->out.len - 1] == '{' ? "" : ",", name);
}

/* The name, in the called workflow, of a name that a condition reads. */
static const char *
passed_name(struct emitter *emitter, const struct read *reads, const char *name)
{
	const struct read *read;
	int i = 1;

	for (read = reads; read; read = read->next, i++)
		if (strcmp(read->name, name) == 0)
			return arena_printf(emitter->arena, "__when_%d", i);
	return NULL;
}

/* A copy in which each name is replaced by that of the passed argument. */
static struct expr *
rename_names(
    struct emitter *emitter, const struct expr *expr, const struct read *reads)
{
	struct expr *copy, *item, **items;
	struct member *member, **members;
	const char *name;

	if (!expr)
		return NULL;
	copy = arena_alloc(emitter->arena, sizeof(*copy));
	*copy = *expr;
	name = copy->tree_name ? copy->tree_name : copy->text;
	if (copy->kind == E_NAME && (name = passed_name(emitter, reads, name)))
		copy->tree_name = name;
	copy->a = rename_names(emitter, expr->a, reads);
	copy->b = rename_names(emitter, expr->b, reads);
	copy->c = rename_names(emitter, expr->c, reads);
	for (items = &copy->items; *items; items = &(*items)->next) {
		item = rename_names(emitter, *items, reads);
		*items = item;
	}
	for (members = &copy->members; *members; members = &(*members)->next) {
		member = arena_alloc(emitter->arena, sizeof(*member));
		*member = **members;
		member->value = rename_names(emitter, member->value, reads);
		*members = member;
	}
	return copy;
}

/* A condition is evaluated later, so the values that it reads are passed. */
static struct expr *
pass_when(struct emitter *emitter, const struct expr *when, struct reads *reads)
{
	struct expr *inside = rename_names(emitter, when, when->reads), *var;
	const struct read *read;
	struct read **tail = &inside->reads;

	inside->reads = NULL;
	for (read = when->reads; read; read = read->next) {
		var = passed(
		    emitter, passed_name(emitter, when->reads, read->name));
		emit_argument(emitter, var->text);
		emit_expr(emitter,
		    &(struct expr){ .kind = E_NAME, .text = read->name });
		*tail = var->reads;
		tail = &(*tail)->next;
	}
	reads_add(reads, when);
	return inside;
}

static struct expr *
pass_value(struct emitter *emitter, const struct policy_rule *rule,
    const struct arg *arg, struct reads *reads)
{
	const char *name;

	if (!arg->value->reads)
		return arg->value;
	if (strcmp(arg->name.text, "when") == 0)
		return pass_when(emitter, arg->value, reads);
	name = rule->params[1].name
	           ? arena_printf(
	                 emitter->arena, "__%s_%s", rule->name, arg->name.text)
	           : arena_printf(emitter->arena, "__%s", rule->name);
	emit_argument(emitter, name);
	emit_expr(emitter, arg->value);
	reads_add(reads, arg->value);
	return passed(emitter, name);
}

struct effects
effects_pass(
    struct emitter *emitter, const struct effects *effects, struct reads *reads)
{
	struct effects inside = *effects;
	struct policy *policy;
	struct arg **args, *arg;
	int i;

	for (i = 0; i < POLICIES; i++) {
		if (!effects->of[i])
			continue;
		policy = arena_alloc(emitter->arena, sizeof(*policy));
		*policy = *effects->of[i];
		for (args = &policy->args; *args; args = &(*args)->next) {
			arg = arena_alloc(emitter->arena, sizeof(*arg));
			*arg = **args;
			arg->value =
			    pass_value(emitter, &policy_rules[i], arg, reads);
			*args = arg;
		}
		inside.of[i] = policy;
	}
	return inside;
}

static void
emit_value(struct emitter *emitter, const struct policy_param *param,
    const struct policy *policy)
{
	static const struct expr is_true = { .kind = E_BOOL, .is_true = true };
	const struct expr *value = policy_arg(policy, param->name);

	emit_expr(emitter, value ? value : &is_true);
}

static void
emit_object(struct emitter *emitter, const struct policy_rule *rule,
    const struct policy *policy)
{
	const struct expr *value;
	const char *open = "{";
	int i;

	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++) {
		if (!(value = policy_arg(policy, rule->params[i].name)))
			continue;
		buf_addf(
		    &emitter->out, "%s\"%s\":", open, rule->params[i].name);
		emit_expr(emitter, value);
		open = ",";
	}
	buf_adds(&emitter->out, "}");
}

void
emit_policies(struct emitter *emitter, const struct effects *effects)
{
	const struct policy_rule *rule;
	const char *open = ",\"policies\":{";
	int i;

	for (i = 0; i < POLICIES; i++) {
		rule = &policy_rules[i];
		if (!effects->of[i])
			continue;
		buf_addf(&emitter->out, "%s\"%s\":", open, rule->name);
		if (rule->params[1].name && !rule->folded)
			emit_object(emitter, rule, effects->of[i]);
		else
			emit_value(emitter, &rule->params[0], effects->of[i]);
		open = ",";
	}
	if (effects_any(effects))
		buf_adds(&emitter->out, "}");
}
