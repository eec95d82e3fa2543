/* Calls: arguments against parameters. */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"

static struct param *
find_param(const struct decl *target, const char *name)
{
	struct param *param;

	for (param = target->params; param; param = param->next)
		if (strcmp(param->name.text, name) == 0)
			return param;
	return NULL;
}

static void
report_argument(
    struct checker *checker, const struct decl *target, const struct arg *arg)
{
	const struct param *param;
	const char *list = "";
	struct suggestion suggestion;

	COMPLAIN(checker, arg->start, "`%s` has no parameter `%s`",
	    target->full_name, arg->name.text);
	if (strcmp(arg->name.text, "driver_meta") == 0) {
		HINT(checker,
		    "driver_meta is for tasks; a workflow takes `with "
		    "group(…)`.");
		return;
	}
	suggestion_init(&suggestion, arg->name.text);
	for (param = target->params; param; param = param->next) {
		suggestion_offer(
		    &suggestion, param->name.text, strlen(param->name.text));
		list = arena_printf(checker->arena, "%s%s%s", list,
		    *list ? ", " : "", param->name.text);
	}
	if (suggestion.best)
		HINT(checker, "Did you mean `%s`?", suggestion.best);
	else if (*list)
		HINT(checker, "Its parameters are: %s.", list);
}

static void
check_argument(struct checker *checker, struct decl *target, struct arg *arg)
{
	struct param *param = find_param(target, arg->name.text);

	if (!param) {
		check_value(checker, arg->value);
		report_argument(checker, target, arg);
		return;
	}
	if (target->is_task)
		secret_allow(arg->value);
	check_value_as(checker, arg->value,
	    param->type ? param->type : &type_basic[TYPE_ERROR],
	    arena_printf(checker->arena, "argument `%s`", arg->name.text));
	if (target->is_task) {
		check_secret_argument(checker, target, arg);
		check_secret_header(checker, arg);
		check_http_given(checker, target, arg->name.text, arg->value);
	}
}

static void
check_missing(struct checker *checker, const struct process *call)
{
	const struct param *param;
	const struct arg *arg;

	for (param = call->target->params; param; param = param->next) {
		for (arg = call->args; arg; arg = arg->next)
			if (strcmp(arg->name.text, param->name.text) == 0)
				break;
		if (!arg && !param->value)
			COMPLAIN(checker, call->name.start,
			    "`%s` needs the argument `%s`",
			    call->target->full_name, param->name.text);
	}
}

static void
check_repeated(struct checker *checker, const struct process *call)
{
	const struct arg *arg, *other;

	for (arg = call->args; arg; arg = arg->next)
		for (other = call->args; other != arg; other = other->next)
			if (strcmp(other->name.text, arg->name.text) == 0)
				COMPLAIN(checker, arg->start,
				    "the argument `%s` is given twice",
				    arg->name.text);
}

/* The argument of a call whose value becomes this argument of a request. */
static const struct arg *
given_for(
    const struct process *call, const struct clause *clause, const char *name)
{
	const struct arg *arg, *given;
	const struct expr *bare;

	for (arg = clause->args; arg; arg = arg->next) {
		bare = check_bare(arg->value);
		if (strcmp(arg->name.text, name) != 0 || bare->kind != E_NAME)
			continue;
		for (given = call->args; given; given = given->next)
			if (strcmp(given->name.text, bare->text) == 0 &&
			    check_bare(given->value)->kind != E_NULL)
				return given;
	}
	return NULL;
}

/* Report what ssh would refuse at run time: a script is read from stdin. */
static void
check_ssh(struct checker *checker, const struct process *call)
{
	const struct arg *script, *other;
	const struct clause *clause;

	for (clause = call->target->clauses; clause; clause = clause->next) {
		if (!clause->transport.text ||
		    strcmp(clause->transport.text, "ssh") != 0)
			continue;
		script = given_for(call, clause, "script");
		other = given_for(call, clause, "stdin");
		if (!other)
			other = given_for(call, clause, "command");
		if (!script || !other)
			continue;
		COMPLAIN(checker, other->start,
		    "`%s` cannot be given beside `%s`", other->name.text,
		    script->name.text);
		HINT(checker, "A script is read from standard input; "
		              "use command = [\"sh\", \"-c\", ...] for one "
		              "that reads its own.");
		return;
	}
}

void
check_call(struct checker *checker, struct process *call)
{
	struct arg *arg;
	const struct type *type = &type_basic[TYPE_ERROR];

	call->target =
	    program_find(checker->program, checker->module, &call->name);
	check_repeated(checker, call);
	if (call->target && call->target->is_task)
		check_driver_meta(checker, call);
	for (arg = call->args; arg; arg = arg->next) {
		if (call->target)
			check_argument(checker, call->target, arg);
		else
			check_value(checker, arg->value);
	}
	if (call->target)
		check_missing(checker, call);
	if (call->target && call->target->is_task)
		check_ssh(checker, call);
	check_policies(checker, call->policies,
	    !call->target           ? POLICIES_OF_UNKNOWN
	    : call->target->is_task ? POLICIES_OF_TASK
	                            : POLICIES_OF_BLOCK);
	if (call->target) {
		call->target->used = true;
		type = call->target->returns ? call->target->returns
		                             : &type_basic[TYPE_JSON];
	}
	scope_bind(checker, &call->as, type);
}
