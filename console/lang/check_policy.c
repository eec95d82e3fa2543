/* Policies: which there are, and what they take. */
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "console/lang/checker.h"

enum { POLICY_ARGS_MAX = 7 };

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
	{ "retry",
	    { { "attempts", TYPE_INT, true }, { "delay", TYPE_DURATION, false },
	        { "backoff", TYPE_NUMBER, false },
	        { "max_delay", TYPE_DURATION, false },
	        { "jitter", TYPE_NUMBER, false }, { "on", TYPE_JSON, false },
	        { "when", TYPE_BOOL, false } } },
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

const struct policy *
policy_find(const struct policy *policies, const char *name)
{
	for (; policies; policies = policies->next)
		if (strcmp(policies->name.text, name) == 0)
			break;
	return policies;
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

/* What `when` sees as `error`. */
static const struct type *
error_type(struct checker *checker)
{
	static const struct {
		const char *name;
		enum type_kind type;
	} fields[] = {
		{ "kind", TYPE_STRING },
		{ "message", TYPE_STRING },
		{ "detail", TYPE_JSON },
		{ "cause", TYPE_JSON },
		{ "process", TYPE_INT },
		{ "attempt", TYPE_INT },
	};
	struct field *list = NULL, *field;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		field = arena_alloc(checker->arena, sizeof(*field));
		field->name = fields[i].name;
		field->type = &type_basic[fields[i].type];
		field->next = list;
		list = field;
	}
	return type_object(checker->arena, list);
}

/* The condition of a retry. It reads `error`; null counts as false. */
static void
check_when(struct checker *checker, struct expr *when)
{
	struct name name = { "error", when->start };
	struct binding error = { .type = error_type(checker) };

	scope_push_local(checker, &name, &error);
	check_value(checker, when);
	scope_pop_local(checker);
	when->type = type_required(checker->arena, when->type);
	check_bool(checker, when, "`when` of `retry`");
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
		if (strcmp(rule->args[place].name, "when") == 0)
			check_when(checker, arg->value);
		else
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

/* Whether it is a number that stands there as it is, and which. */
static bool
is_number(struct expr *expr, double *value)
{
	const struct expr *literal = check_bare(expr);
	bool minus = literal->kind == E_UNARY && literal->op == T_MINUS;

	if (minus)
		literal = literal->a;
	if (literal->kind != E_NUMBER)
		return false;
	*value = strtod(literal->text, NULL);
	if (minus)
		*value = -*value;
	return true;
}

void
check_between(struct checker *checker, struct expr *expr, const char *what,
    int least, int most)
{
	double value;

	if (is_number(expr, &value) && (value < least || value > most))
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

/* A kind of error, or a list of kinds. Any text is one: tasks invent kinds. */
static void
check_kinds(struct checker *checker, const struct expr *expr)
{
	const struct type *type = expr->type;

	if (type->kind == TYPE_LIST)
		type = type->element;
	if (!type || type->kind == TYPE_STRING || is_json(type))
		return;
	COMPLAIN(checker, expr->start,
	    "`on` of `retry` takes a kind of error or a list of them, not `%s`",
	    type_text(checker->arena, expr->type));
	HINT(checker, "Write on = \"http\" or on = [\"http\", \"timeout\"].");
}

static void
check_retry(struct checker *checker, const struct policy *policy)
{
	struct expr *expr;
	double value;

	if ((expr = policy_arg(policy, "attempts", 0)) &&
	    is_number(expr, &value) && value != -1 &&
	    !(value >= 1 && value <= CHECK_INT_MAX)) {
		COMPLAIN(checker, expr->start,
		    "`attempts` of `retry` must lie between 1 and %d, or be -1",
		    CHECK_INT_MAX);
		HINT(checker, "The first attempt counts; -1 means any number "
		              "of them.");
	}
	if ((expr = policy_arg(policy, "backoff", 2)))
		check_between(checker, expr, "backoff", 1, 9999);
	if ((expr = policy_arg(policy, "jitter", 4)))
		check_between(checker, expr, "jitter", 0, 1);
	if ((expr = policy_arg(policy, "on", 5)))
		check_kinds(checker, check_bare(expr));
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
	if (strcmp(policy->name.text, "retry") == 0)
		check_retry(checker, policy);
}

static void
check_policy(
    struct checker *checker, struct policy *policy, enum policy_place place)
{
	const struct rule *rule = find_rule(policy->name.text);

	if (policy->each) {
		check_unsupported(checker, policy->start,
		    arena_printf(checker->arena, "each %s", policy->name.text));
	} else if (place == POLICIES_OF_BLOCK &&
	           strcmp(policy->name.text, "retry") == 0) {
		check_unsupported(
		    checker, policy->start, "retry of more than a task");
	} else if (rule) {
		check_args(checker, policy, rule);
		check_constants(checker, policy, place == POLICIES_OF_TYPE);
	} else if (comes_later(policy->name.text)) {
		check_unsupported(checker, policy->start, policy->name.text);
	} else {
		report_unknown(checker, policy);
	}
}

void
check_policies(
    struct checker *checker, struct policy *policies, enum policy_place place)
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
		check_policy(checker, policy, place);
	}
}
