/* Policies: whether they exist, and what they take. */
#include <stdlib.h>
#include <string.h>

#include "console/lang/checker.h"

enum { LIMIT_DAYS_MAX = 36500 }; /* a hundred years */

static void
report_unknown(struct checker *checker, const struct policy *policy)
{
	const char *instead = policy_instead(policy->name.text);
	const char *near = policy_nearest(policy->name.text);

	COMPLAIN(checker, policy->name.start, "there is no policy `%s`",
	    policy->name.text);
	if (instead)
		HINT(checker, "%s", instead);
	else if (near)
		HINT(checker, "Did you mean `%s`?", near);
}

/* The place of an argument in the rule, or -1. */
static int
arg_place(const struct policy_rule *rule, const struct arg *arg, int position)
{
	int i;

	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++)
		if (arg->name.text
		        ? strcmp(rule->params[i].name, arg->name.text) == 0
		        : i == position)
			return i;
	return -1;
}

/* The type of `error` in `when`. */
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

/* Whether the expression is a literal number, and its value. */
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
    double least, double most)
{
	double value;

	if (is_number(expr, &value) && (value < least || value > most))
		COMPLAIN(checker, expr->start,
		    "`%s` must lie between %.10g and %.10g", what, least, most);
}

/* A word of the language, not a name; it becomes a string. */
static void
check_word(struct checker *checker, struct expr *expr, const char *what,
    const char *const *words)
{
	const char *allowed = "";
	size_t i;

	for (i = 0; words[i]; i++) {
		if (expr->kind == E_NAME && strcmp(expr->text, words[i]) == 0) {
			expr->kind = E_STRING;
			expr->type = &type_basic[TYPE_STRING];
			return;
		}
		allowed = arena_printf(checker->arena, "%s%s`%s`", allowed,
		    i == 0         ? ""
		    : words[i + 1] ? ", "
		                   : " or ",
		    words[i]);
	}
	COMPLAIN(checker, expr->start, "`%s` takes a word", what);
	HINT(checker, "Write %s, without quotes.", allowed);
}

/* An argument that the policy does not have (`place` -1), or has already. */
static void
report_argument(struct checker *checker, const struct arg *arg,
    const struct policy_rule *rule, int place)
{
	const char *names = "";
	int i;

	if (place >= 0) {
		COMPLAIN(checker, arg->start,
		    "`%s` is given this argument twice", rule->name);
		return;
	}
	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++)
		names = arena_printf(checker->arena, "%s%s%s", names,
		    i > 0 ? ", " : "", rule->params[i].name);
	if (arg->name.text)
		COMPLAIN(checker, arg->start, "`%s` has no argument `%s`",
		    rule->name, arg->name.text);
	else
		COMPLAIN(checker, arg->start,
		    "`%s` takes at most %d argument%s", rule->name, i,
		    i == 1 ? "" : "s");
	HINT(checker, "The arguments of `%s` are: %s.", rule->name, names);
}

/* Give each argument its name. */
static void
check_args(struct checker *checker, struct policy *policy,
    const struct policy_rule *rule)
{
	const struct policy_param *param;
	bool given[POLICY_ARGS_MAX] = { false };
	struct arg *arg;
	int i = 0, place;

	for (arg = policy->args; arg; arg = arg->next, i++) {
		place = arg_place(rule, arg, i);
		if (place < 0 || given[place]) {
			report_argument(checker, arg, rule, place);
			continue;
		}
		given[place] = true;
		param = &rule->params[place];
		arg->name.text = param->name;
		if (strcmp(param->name, "when") == 0)
			check_when(checker, arg->value);
		else if (param->words)
			check_word(checker, arg->value,
			    param == rule->params ? rule->name : param->name,
			    param->words);
		else
			check_value_as(checker, arg->value,
			    &type_basic[param->type],
			    arena_printf(checker->arena, "`%s` of `%s`",
			        param->name, rule->name));
		if (param->least < param->most)
			check_between(checker, arg->value,
			    rule->params[1].name ? param->name : rule->name,
			    param->least, param->most);
	}
	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++)
		if (rule->params[i].required && !given[i])
			COMPLAIN(checker, policy->start,
			    "`%s` needs the argument `%s`", rule->name,
			    rule->params[i].name);
}

static bool
is_json(const struct type *type)
{
	return type->kind == TYPE_JSON || type->kind == TYPE_NULL ||
	       type->kind == TYPE_ERROR;
}

/* A list of names, or an object of a value for each name. */
void
check_requires(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *expr = policy_arg(policy, "capabilities");
	const struct type *type;
	const struct field *field;

	(void)place;
	if (!expr)
		return;
	expr = check_bare(expr);
	type = expr->type;
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

void
check_tags(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	static const struct type tags = { .kind = TYPE_LIST,
		.element = &type_basic[TYPE_STRING] };
	const struct expr *expr = policy_arg(policy, "tags");

	if (place != POLICIES_OF_WORKFLOW && place != POLICIES_OF_UNKNOWN) {
		COMPLAIN(checker, policy->start,
		    "`tags` is for a workflow: its instances have them");
		HINT(checker, "Write it between the parameters of the workflow "
		              "and its block.");
	} else if (expr && expr->type &&
	           type_fit(expr->type, &tags) == FIT_NEVER) {
		COMPLAIN(checker, expr->start,
		    "`tags` takes a list of strings, not `%s`",
		    type_text(checker->arena, expr->type));
		HINT(checker, "Write tags([\"nightly\"]).");
	}
}

/* It may read only parameters, because nothing else exists yet. */
void
check_start_if(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	if (place == POLICIES_OF_WORKFLOW || place == POLICIES_OF_UNKNOWN)
		return;
	COMPLAIN(checker, policy->start,
	    "`start_if` is for a workflow: it refuses a start");
	HINT(checker,
	    "Write it between the parameters of the workflow and its block; "
	    "`if (…)` decides about steps.");
}

/* Its key may read only parameters, because nothing else exists yet. */
void
check_key(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	if (place == POLICIES_OF_WORKFLOW || place == POLICIES_OF_UNKNOWN)
		return;
	COMPLAIN(checker, policy->start,
	    "`key` is for a workflow: its instances have keys");
	HINT(checker, "Write it between the parameters of the workflow and its "
	              "block; `group` lets few steps run at a time.");
}

/* The workspace reads its times, and the parameters of the workflow. */
void
check_schedule(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	bool cron = policy_arg(policy, "cron") != NULL;
	bool every = policy_arg(policy, "every") != NULL;

	if (place != POLICIES_OF_WORKFLOW && place != POLICIES_OF_UNKNOWN) {
		COMPLAIN(checker, policy->start,
		    "`schedule` is for a workflow, which it starts");
		HINT(checker, "Write it between the parameters of the workflow "
		              "and its block.");
	} else if (cron == every) {
		COMPLAIN(checker, policy->start,
		    cron ? "`schedule` takes `cron` or `every`, not both"
		         : "`schedule` needs `cron` or `every`");
		HINT(checker, "Write schedule(\"30 2 * * *\") or "
		              "schedule(every = 10m).");
	}
}

/*
 * A kind of error, or a list of kinds.  Any text may be one: tasks have kinds
 * of their own.
 */
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

void
check_retry(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *expr;
	double value;

	(void)place;
	if ((expr = policy_arg(policy, "attempts")) &&
	    is_number(expr, &value) && value != -1 &&
	    !(value >= 1 && value <= CHECK_INT_MAX)) {
		COMPLAIN(checker, expr->start,
		    "`attempts` of `retry` must lie between 1 and %d, or be -1",
		    CHECK_INT_MAX);
		HINT(checker, "The first attempt counts; -1 means any number "
		              "of them.");
	}
	if ((expr = policy_arg(policy, "on")))
		check_kinds(checker, check_bare(expr));
}

/* Whether a literal duration lies within the bounds of a limit. */
static bool
is_limit(struct expr *expr)
{
	const struct expr *literal = check_bare(expr);
	const char *text = literal->text, *time;
	long days;

	if (expr->type->kind != TYPE_DURATION ||
	    (literal->kind != E_DURATION && literal->kind != E_STRING))
		return true;
	/* as PostgreSQL writes an interval: P2DT3H */
	time = strchr(text, 'T');
	days = text[1] == 'T' ? 0 : strtol(text + 1, NULL, 10);
	if (time && strchr(time, 'H'))
		days += strtol(time + 1, NULL, 10) / 24;
	return strcmp(text, "PT0S") != 0 && days <= LIMIT_DAYS_MAX;
}

void
check_timeout(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	const struct arg *arg;

	if (!policy->args) {
		COMPLAIN(checker, policy->start, "`timeout` has no limit");
		HINT(checker, "Write timeout(runtime = 1h). The limits are "
		              "inactivity, runtime, deadline, wait.");
	}
	for (arg = policy->args; arg; arg = arg->next)
		if (arg->value->type && !is_limit(arg->value))
			COMPLAIN(checker, arg->value->start,
			    "`%s` must be more than 0 and at most %d days",
			    arg->name.text, LIMIT_DAYS_MAX);
	if ((place != POLICIES_OF_BLOCK && place != POLICIES_OF_WORKFLOW) ||
	    policy->each)
		return;
	for (arg = policy->args; arg; arg = arg->next) {
		if (!arg->name.text || strcmp(arg->name.text, "deadline") == 0)
			continue;
		COMPLAIN(checker, arg->start,
		    "`%s` of `timeout` is for tasks; a block or workflow has a "
		    "`deadline`",
		    arg->name.text);
		HINT(checker,
		    "Write each timeout(%s = …) for the tasks inside.",
		    arg->name.text);
	}
}

void
check_weight(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *expr = policy_arg(policy, "value");
	double value;

	(void)place;
	if (!expr || is_number(expr, &value))
		return;
	COMPLAIN(checker, expr->start, "`weight` takes a number as it is");
	HINT(checker, "What all tasks weigh together is known before any "
	              "begins.");
}

/*
 * A rate without a name gets the name of its declaration.  A second such rate
 * there is another rate, with a number.
 */
void
check_rate(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *per = policy_arg(policy, "per");
	struct arg *last, *name;

	(void)place;
	if (per && per->type && !is_limit(per))
		COMPLAIN(checker, per->start,
		    "`per` must be more than 0 and at most %d days",
		    LIMIT_DAYS_MAX);
	if (policy_arg(policy, "name") || !policy->args)
		return;
	if (checker->rated != checker->decl) {
		checker->rated = checker->decl;
		checker->rates = 0;
	}
	checker->rates++;
	name = arena_alloc(checker->arena, sizeof(*name));
	name->name.text = "name";
	name->start = policy->start;
	name->value = arena_alloc(checker->arena, sizeof(*name->value));
	name->value->kind = E_STRING;
	name->value->start = policy->start;
	name->value->type = &type_basic[TYPE_STRING];
	name->value->text = checker->rates == 1
	                        ? checker->decl->full_name
	                        : arena_printf(checker->arena, "%.58s#%d",
	                              checker->decl->full_name, checker->rates);
	for (last = policy->args; last->next; last = last->next)
		continue;
	last->next = name;
}

/* An action together with one of these is a word of its own in the tree. */
static const struct extra {
	const char *name, *action, *word;
	const char *actions;     /* that may have it */
	const char *known, *why; /* hints */
} extras[] = {
	{ "cascade", "skip", "skip_all", "`skip`",
	    "Which steps are skipped must be known before the instance "
	    "begins.",
	    "Only a skipped step leaves names without a value." },
	{ "undo", "fail", "fail_undo", "`fail` and `fail_late`",
	    "Whether steps are undone must be known before the instance "
	    "begins.",
	    "Only an end of the instance gives up its finished steps." },
	{ "undo", "fail_late", "fail_late_undo", NULL, NULL, NULL },
};

enum { EXTRAS = sizeof(extras) / sizeof(extras[0]) };

static void
check_extra(struct checker *checker, struct expr *action, struct expr *value,
    const struct extra *extra)
{
	const struct expr *literal;
	size_t i;

	if (!value || !value->type || value->type->kind != TYPE_BOOL)
		return;
	literal = check_bare(value);
	if (literal->kind != E_BOOL) {
		COMPLAIN(checker, value->start, "`%s` takes true or false",
		    extra->name);
		HINT(checker, "%s", extra->known);
		return;
	}
	if (!action || action->kind != E_STRING)
		return; /* another error is reported for it */
	for (i = 0; i < EXTRAS; i++)
		if (strcmp(extras[i].name, extra->name) == 0 &&
		    strcmp(extras[i].action, action->text) == 0)
			break;
	if (i == EXTRAS) {
		COMPLAIN(checker, value->start,
		    "`%s` goes with %s, not with `%s`", extra->name,
		    extra->actions, action->text);
		HINT(checker, "%s", extra->why);
	} else if (literal->is_true) {
		action->text = extras[i].word;
	}
}

void
check_on_failure(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *action = policy_arg(policy, "action");

	(void)place;
	check_extra(checker, action, policy_arg(policy, "cascade"), &extras[0]);
	check_extra(checker, action, policy_arg(policy, "undo"), &extras[1]);
}

void
check_idempotent(struct checker *checker, const struct policy *policy,
    enum policy_place place)
{
	struct expr *expr = policy_arg(policy, "value");

	if (place == POLICIES_OF_TYPE || !expr ||
	    check_bare(expr)->kind == E_BOOL)
		return;
	COMPLAIN(checker, expr->start, "`idempotent` takes true or false");
	HINT(checker, "Only a task type can compute it, from its parameters.");
}

/* Policies that may be given to each task inside a block. */
static const char *
each_names(struct checker *checker)
{
	const char *names = "";
	int i;

	for (i = 0; i < POLICIES; i++)
		if (policy_rules[i].each)
			names = arena_printf(checker->arena, "%s%s`%s`", names,
			    *names ? ", " : "", policy_rules[i].name);
	return names;
}

static bool
check_each(struct checker *checker, const struct policy *policy,
    const struct policy_rule *rule, enum policy_place place)
{
	if (!rule->each) {
		COMPLAIN(checker, policy->start, "`each` does not go with `%s`",
		    rule->name);
		if (rule->reach == REACH_TASKS)
			HINT(checker,
			    "`%s` reaches every task inside without it.",
			    rule->name);
		else
			HINT(checker, "It goes with %s.", each_names(checker));
		return false;
	}
	if (place == POLICIES_OF_TASK || place == POLICIES_OF_TYPE) {
		COMPLAIN(checker, policy->start,
		    "`each %s` is for the tasks inside a block, and there are "
		    "none",
		    rule->name);
		HINT(checker, "Write `%s(…)` without `each`.", rule->name);
		return false;
	}
	return true;
}

static void
check_policy(
    struct checker *checker, struct policy *policy, enum policy_place place)
{
	const struct policy_rule *rule = policy_rule(policy->name.text);

	if (policy->undo) {
		check_undo_place(checker, policy, place);
	} else if (!rule && !policy_comes_later(policy->name.text)) {
		report_unknown(checker, policy);
	} else if (!rule) {
		check_unsupported(checker, policy->start,
		    arena_printf(checker->arena, "%s%s",
		        policy->each ? "each " : "", policy->name.text),
		    policy_instead(policy->name.text));
	} else if (!policy->each || check_each(checker, policy, rule, place)) {
		check_args(checker, policy, rule);
		if (rule->check)
			rule->check(checker, policy, place);
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
