/* Policies: which there are, and what they take. */
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "console/lang/checker.h"

enum { POLICY_ARGS_MAX = 2 };

/* Keep both sorted by name. */
static const struct rule {
	const char *name;
	struct {
		const char *name;
		enum type_kind type;
		bool required;
	} args[POLICY_ARGS_MAX];
} rules[] = {
	{ "group",
	    { { "name", TYPE_STRING, true }, { "max", TYPE_INT, false } } },
	{ "idempotent", { { "value", TYPE_BOOL, false } } },
	{ "priority", { { "value", TYPE_INT, true } } },
	{ "queue", { { "name", TYPE_STRING, true } } },
	{ "requires", { { "capabilities", TYPE_JSON, true } } },
	{ "title", { { "text", TYPE_STRING, true } } },
};

/* Those that come later. */
static const char *const later[] = {
	"lock",
	"on_failure",
	"output",
	"plan",
	"rate",
	"recover",
	"retention",
	"retry",
	"role",
	"run_as",
	"schedule",
	"start_if",
	"subject",
	"tags",
	"timeout",
	"undo",
	"weight",
};

enum {
	RULES = sizeof(rules) / sizeof(rules[0]),
	LATER = sizeof(later) / sizeof(later[0]),
};

static const struct rule *
find_rule(const char *name)
{
	size_t i;

	for (i = 0; i < RULES; i++)
		if (strcmp(rules[i].name, name) == 0)
			return &rules[i];
	return NULL;
}

static bool
comes_later(const char *name)
{
	size_t i;

	for (i = 0; i < LATER; i++)
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}

static void
report_unknown(struct checker *checker, const struct policy *policy)
{
	struct near near;
	size_t i;

	COMPLAIN(checker, policy->name.start, "there is no policy `%s`",
	    policy->name.text);
	near_init(&near, policy->name.text);
	for (i = 0; i < RULES; i++)
		near_offer(&near, rules[i].name, strlen(rules[i].name));
	for (i = 0; i < LATER; i++)
		near_offer(&near, later[i], strlen(later[i]));
	if (near.best)
		HINT(checker, "Did you mean `%s`?", near.best);
}

struct expr *
policy_arg(const struct policy *policy, const char *name, int position)
{
	const struct arg *arg;
	int i = 0;

	for (arg = policy->args; arg; arg = arg->next, i++)
		if (arg->name.text ? strcmp(arg->name.text, name) == 0
		                   : i == position)
			return arg->value;
	return NULL;
}

/* The place of an argument in the rule, or -1. */
static int
arg_place(const struct rule *rule, const struct arg *arg, int position)
{
	int i;

	for (i = 0; i < POLICY_ARGS_MAX && rule->args[i].name; i++)
		if (arg->name.text
		        ? strcmp(rule->args[i].name, arg->name.text) == 0
		        : i == position)
			return i;
	return -1;
}

static void
check_args(
    struct checker *checker, struct policy *policy, const struct rule *rule)
{
	bool given[POLICY_ARGS_MAX] = { false };
	struct arg *arg;
	int i = 0, place;

	for (arg = policy->args; arg; arg = arg->next, i++) {
		place = arg_place(rule, arg, i);
		if (place < 0 || given[place]) {
			COMPLAIN(checker, arg->start,
			    place < 0 ? "`%s` takes no such argument"
			              : "`%s` is given this argument twice",
			    rule->name);
			continue;
		}
		given[place] = true;
		check_value_as(checker, arg->value,
		    &type_basic[rule->args[place].type],
		    arena_printf(checker->arena, "`%s` of `%s`",
		        rule->args[place].name, rule->name));
	}
	for (i = 0; i < POLICY_ARGS_MAX && rule->args[i].name; i++)
		if (rule->args[i].required && !given[i])
			COMPLAIN(checker, policy->start,
			    "`%s` needs the argument `%s`", rule->name,
			    rule->args[i].name);
}

void
check_between(struct checker *checker, struct expr *expr, const char *what,
    int least, int most)
{
	const struct expr *literal = check_bare(expr);
	bool minus = literal->kind == E_UNARY && literal->op == T_MINUS;
	double value;

	if (minus)
		literal = literal->a;
	if (literal->kind != E_NUMBER)
		return;
	value = strtod(literal->text, NULL);
	if (minus)
		value = -value;
	if (value < least || value > most)
		COMPLAIN(checker, expr->start,
		    "`%s` must lie between %d and %d", what, least, most);
}

static bool
is_json(const struct type *type)
{
	return type->kind == TYPE_JSON || type->kind == TYPE_NULL ||
	       type->kind == TYPE_ERROR;
}

/* A list of names, or an object of a value for each name. */
static void
check_capabilities(struct checker *checker, const struct expr *expr)
{
	const struct type *type = expr->type;
	const struct field *field;

	if (type->kind == TYPE_LIST &&
	    (!type->element || type->element->kind == TYPE_STRING ||
	        is_json(type->element)))
		return;
	if (type->kind != TYPE_OBJECT && !is_json(type)) {
		COMPLAIN(checker, expr->start,
		    "`requires` takes a list of strings or an object, not `%s`",
		    type_text(checker->arena, type));
		HINT(checker, "Write requires({\"gpu\"}) or "
		              "requires({zone: \"eu\"}).");
	}
	if (type->kind != TYPE_OBJECT || !type->closed)
		return;
	for (field = type->fields; field; field = field->next)
		if (field->type->kind == TYPE_LIST ||
		    field->type->kind == TYPE_OBJECT)
			COMPLAIN(checker, expr->start,
			    "the capability `%s` must be true, false, a "
			    "string or a number, not `%s`",
			    field->name,
			    type_text(checker->arena, field->type));
}

/* What can be said about values before anything runs. */
static void
check_constants(struct checker *checker, struct policy *policy, bool of_type)
{
	struct expr *expr;

	if (strcmp(policy->name.text, "group") == 0 &&
	    (expr = policy_arg(policy, "max", 1)))
		check_between(checker, expr, "max", 1, CHECK_INT_MAX);
	if (strcmp(policy->name.text, "priority") == 0 &&
	    (expr = policy_arg(policy, "value", 0)))
		check_between(checker, expr, "priority", -1000, 1000);
	if (strcmp(policy->name.text, "idempotent") == 0 && !of_type &&
	    (expr = policy_arg(policy, "value", 0)) &&
	    check_bare(expr)->kind != E_BOOL) {
		COMPLAIN(
		    checker, expr->start, "`idempotent` takes true or false");
		HINT(checker, "Only a task type can compute it, from its "
		              "parameters.");
	}
	if (strcmp(policy->name.text, "requires") == 0 &&
	    (expr = policy_arg(policy, "capabilities", 0)))
		check_capabilities(checker, check_bare(expr));
}

static void
check_policy(struct checker *checker, struct policy *policy, bool of_type)
{
	const struct rule *rule = find_rule(policy->name.text);

	if (policy->each) {
		check_unsupported(checker, policy->start,
		    arena_printf(checker->arena, "each %s", policy->name.text));
	} else if (rule) {
		check_args(checker, policy, rule);
		check_constants(checker, policy, of_type);
	} else if (comes_later(policy->name.text)) {
		check_unsupported(checker, policy->start, policy->name.text);
	} else {
		report_unknown(checker, policy);
	}
}

void
check_policies(struct checker *checker, struct policy *policies, bool of_type)
{
	struct policy *policy, *other;

	for (policy = policies; policy; policy = policy->next) {
		for (other = policies; other != policy; other = other->next)
			if (strcmp(other->name.text, policy->name.text) == 0 &&
			    other->each == policy->each) {
				COMPLAIN(checker, policy->start,
				    "`%s` is given twice", policy->name.text);
				break;
			}
		check_policy(checker, policy, of_type);
	}
}
