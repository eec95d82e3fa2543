/* Calls: arguments against parameters. */
#include <string.h>

#include "common/near.h"
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
	struct near near;

	COMPLAIN(checker, arg->start, "`%s` has no parameter `%s`",
	    target->full_name, arg->name.text);
	if (strcmp(arg->name.text, "driver_meta") == 0) {
		HINT(checker,
		    "driver_meta is for tasks; a workflow takes `with "
		    "group(…)`.");
		return;
	}
	near_init(&near, arg->name.text);
	for (param = target->params; param; param = param->next) {
		near_offer(&near, param->name.text, strlen(param->name.text));
		list = arena_printf(checker->arena, "%s%s%s", list,
		    *list ? ", " : "", param->name.text);
	}
	if (near.best)
		HINT(checker, "Did you mean `%s`?", near.best);
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
