/*
 * Secrets: where they may stand.  Only the driver knows their values, so a
 * workflow can only pass them on.
 */
#include <string.h>
#include <strings.h>

#include "console/lang/checker.h"
#include "console/lang/transport_spec.h"

enum { NAME_MAX_BYTES = 128 };

/*
 * The names of secrets are names of files; none is hidden or leads elsewhere.
 */
static bool
is_secret_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_.-";

	return strlen(text) <= NAME_MAX_BYTES && *text != '\0' &&
	       *text != '.' && *text != '-' &&
	       text[strspn(text, allowed)] == '\0';
}

void
check_secret(struct checker *checker, struct expr *expr)
{
	if (!is_secret_name(expr->a->text)) {
		COMPLAIN(checker, expr->a->start,
		    "\"%s\" is not a name for a secret", expr->a->text);
		HINT(checker,
		    "It is made of a to z, A to Z, 0 to 9, _, - and ., begins "
		    "with none of - and ., and has at most %d bytes.",
		    NAME_MAX_BYTES);
	} else {
		expr->type = &type_basic[TYPE_SECRET];
	}
}

void
secret_allow(struct expr *expr)
{
	struct member *member;
	struct expr *item;

	switch (expr->kind) {
	case E_PAREN:
		secret_allow(expr->a);
		break;
	case E_LIST:
		for (item = expr->items; item; item = item->next)
			secret_allow(item);
		break;
	case E_OBJECT:
		for (member = expr->members; member; member = member->next)
			secret_allow(member->value);
		break;
	case E_TEXT:
		for (item = expr->items; item; item = item->next)
			check_bare(item)->secret_place = true;
		break;
	default:
		expr->secret_place = true;
	}
}

/* A parameter of a task type may be a secret, too. */
void
check_secret_place(struct checker *checker, struct expr *expr)
{
	if (expr->type->kind != TYPE_SECRET || expr->secret_place ||
	    (expr->kind != E_SECRET && expr->kind != E_NAME))
		return;
	COMPLAIN(checker, expr->start, "a secret can not stand here");
	HINT(checker, "%s",
	    checker->no_secret
	        ? checker->no_secret
	        : "It can stand in an argument of a task: alone, in a list or "
	          "object, or in \"…${secret(…)}…\".");
	expr->type = &type_basic[TYPE_ERROR];
}

/* What ought to be one ------------------------------------------------------ */

void
check_secret_header(struct checker *checker, const struct arg *arg)
{
	const struct expr *headers = check_bare(arg->value), *value;
	const struct member *member;

	if (strcmp(arg->name.text, "headers") != 0 || headers->kind != E_OBJECT)
		return;
	for (member = headers->members; member; member = member->next) {
		value = check_bare(member->value);
		if (value->kind != E_STRING || *value->text == '\0' ||
		    strcasecmp(member->key.text, "authorization") != 0)
			continue;
		COMPLAIN(checker, value->start,
		    "the value of header `%s` must be a secret, not a literal",
		    member->key.text);
		HINT(checker,
		    "Write secret(\"name\"), or \"…${secret(\"name\")}\": "
		    "then only the driver knows the value, never the "
		    "database.");
	}
}

/* Whether a task type hands a parameter on -------------------------------- */

/* How a task type uses one of its parameters. */
struct use {
	const struct param *param;
	int handed_on; /* unchanged, to where a secret may stand */
	int other;
};

/* `place` says whether a secret may stand here. */
static void
find_uses(struct use *use, const struct expr *expr, bool place)
{
	bool declared = use->param->type->kind == TYPE_SECRET;
	bool inner = place && (expr->kind == E_PAREN || expr->kind == E_LIST ||
	                          expr->kind == E_OBJECT ||
	                          (expr->kind == E_TEXT && declared));
	const struct expr *item;
	const struct member *member;

	if (expr->kind == E_NAME &&
	    strcmp(expr->text, use->param->name.text) == 0) {
		use->handed_on += place;
		use->other += !place;
	}
	if (expr->a)
		find_uses(use, expr->a, inner);
	if (expr->b)
		find_uses(use, expr->b, false);
	if (expr->c)
		find_uses(use, expr->c, false);
	for (item = expr->items; item; item = item->next)
		find_uses(use, item, inner);
	for (member = expr->members; member; member = member->next)
		find_uses(use, member->value, inner);
}

static void
find_uses_in_args(struct use *use, const struct arg *args)
{
	for (; args; args = args->next)
		find_uses(use, args->value, false);
}

static void
find_uses_in_clause(struct use *use, const struct clause *clause)
{
	const struct transport_spec *transport =
	    transport_spec_find(clause->transport.text);
	const struct arg *arg;
	const struct sub *sub;

	for (arg = clause->args; arg && transport; arg = arg->next)
		find_uses(use, arg->value,
		    transport_spec_takes_secret(transport, arg->name.text));
	for (sub = clause->subs; sub; sub = sub->next) {
		find_uses_in_args(use, sub->args);
		if (sub->value)
			find_uses(use, sub->value, false);
		if (sub->as)
			find_uses(use, sub->as, false);
	}
}

static bool
takes_secret(const struct decl *type, const struct param *param)
{
	struct use use = { .param = param };
	const struct clause *clause;
	const struct policy *policy;

	for (clause = type->clauses; clause; clause = clause->next)
		find_uses_in_clause(&use, clause);
	for (policy = type->policies; policy; policy = policy->next)
		find_uses_in_args(&use, policy->args);
	return use.handed_on > 0 && use.other == 0;
}

const struct expr *
find_secret(const struct expr *expr)
{
	const struct expr *item, *found = NULL;
	const struct member *member;

	if (expr->kind == E_SECRET)
		return expr;
	if (expr->kind == E_PAREN)
		return find_secret(expr->a);
	for (item = expr->items; item && !found; item = item->next)
		found = find_secret(item);
	for (member = expr->members; member && !found; member = member->next)
		found = find_secret(member->value);
	return found;
}

void
check_secret_argument(
    struct checker *checker, const struct decl *target, const struct arg *arg)
{
	const struct expr *secret = find_secret(arg->value);
	const struct param *param;
	const char *names = "";
	bool fine = false;

	if (!secret)
		return;
	for (param = target->params; param; param = param->next) {
		if (!takes_secret(target, param))
			continue;
		fine |= strcmp(param->name.text, arg->name.text) == 0;
		names = arena_printf(checker->arena, "%s%s%s", names,
		    *names ? ", " : "", param->name.text);
	}
	if (fine)
		return;
	COMPLAIN(checker, secret->start, "`%s` can not take a secret in `%s`",
	    target->full_name, arg->name.text);
	if (*names)
		HINT(checker,
		    "Only parameters that are handed on as they are can hold a "
		    "secret: %s.",
		    names);
	else
		HINT(checker, "No parameter is handed on as it is, so none can "
		              "hold a secret.");
}
