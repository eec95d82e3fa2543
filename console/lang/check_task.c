/*
 * Task types: the arguments of their requests, and what their conditions read.
 */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"
#include "console/lang/transport_spec.h"

static const char *const request_words[] = {
	[R_START] = "start",
	[R_POLL] = "poll",
	[R_FETCH] = "fetch",
	[R_CANCEL] = "cancel",
	[R_CLEANUP] = "cleanup",
	[R_CALLBACK] = "callback",
	[R_WAIT] = "wait",
};

static const char *const sub_words[] = {
	[S_EVERY] = "every",
	[S_HANDLE] = "handle",
	[S_OUTPUT] = "output",
	[S_PROGRESS] = "progress",
	[S_SUCCESS] = "success when",
	[S_FAILURE] = "failure when",
};

/* The parts that a request may have. */
static const bool allowed[R_KINDS][S_KINDS] = {
	[R_START] = { [S_HANDLE] = true,
	    [S_OUTPUT] = true,
	    [S_SUCCESS] = true,
	    [S_FAILURE] = true,
	    [S_PROGRESS] = true },
	[R_POLL] = { [S_EVERY] = true,
	    [S_HANDLE] = true,
	    [S_OUTPUT] = true,
	    [S_SUCCESS] = true,
	    [S_FAILURE] = true,
	    [S_PROGRESS] = true },
	[R_CANCEL] = { [S_EVERY] = true },
	[R_CLEANUP] = { [S_EVERY] = true },
};

static const struct {
	const char *name;
	enum type_kind type;
	int most; /* the largest number; the least is 1 */
} every_args[] = {
	{ "delay", TYPE_DURATION, 0 },
	{ "backoff", TYPE_NUMBER, 9999 },
	{ "max_delay", TYPE_DURATION, 0 },
	{ "attempts", TYPE_INT, CHECK_INT_MAX },
};

enum { EVERY_ARGS = sizeof(every_args) / sizeof(every_args[0]) };

static struct clause *
find_clause(const struct decl *decl, enum request_kind kind)
{
	struct clause *clause;

	for (clause = decl->clauses; clause; clause = clause->next)
		if (clause->kind == kind)
			return clause;
	return NULL;
}

static void
bind(struct checker *checker, const char *name, const struct type *type)
{
	struct name bound = { name, checker->decl->start };

	scope_add(checker, &bound, type);
}

/* The fields that any `handle` clause writes; their types are unknown. */
static const struct type *
handle_type(struct checker *checker, const struct decl *decl)
{
	struct field *fields = NULL, **tail = &fields, *field;
	const struct clause *clause;
	const struct sub *sub;
	const struct member *member;

	for (clause = decl->clauses; clause; clause = clause->next) {
		for (sub = clause->subs; sub; sub = sub->next) {
			if (sub->kind != S_HANDLE)
				continue;
			for (member = sub->value->members; member;
			     member = member->next) {
				field =
				    arena_alloc(checker->arena, sizeof(*field));
				field->name = member->key.text;
				field->type = &type_basic[TYPE_JSON];
				*tail = field;
				tail = &field->next;
			}
		}
	}
	return type_object(checker->arena, fields);
}

static void
check_every(struct checker *checker, struct sub *sub)
{
	struct arg *arg;
	int position = 0, i;

	for (arg = sub->args; arg; arg = arg->next, position++) {
		for (i = 0; i < EVERY_ARGS; i++)
			if (arg->name.text ? strcmp(every_args[i].name,
			                         arg->name.text) == 0
			                   : i == position)
				break;
		if (i == EVERY_ARGS) {
			COMPLAIN(checker, arg->start,
			    "`every` takes no such argument");
			HINT(checker, "It takes delay, backoff, max_delay and "
			              "attempts.");
			continue;
		}
		arg->name.text = every_args[i].name;
		check_value_as(checker, arg->value,
		    &type_basic[every_args[i].type],
		    arena_printf(checker->arena, "`%s`", arg->name.text));
		if (every_args[i].most)
			check_between(checker, arg->value, arg->name.text, 1,
			    every_args[i].most);
	}
}

/* A number from 0 to 1, or null; of the response to a poll, or of output. */
static void
check_progress(
    struct checker *checker, const struct clause *clause, struct sub *sub)
{
	const struct transport_spec *transport =
	    transport_spec_find(clause->transport.text);

	check_value_as(checker, sub->value,
	    type_optional(checker->arena, &type_basic[TYPE_NUMBER]),
	    "`progress`");
	if (clause->kind == R_POLL || transport->streams)
		return;
	COMPLAIN(checker, sub->start,
	    "`progress` does not go with `start` of `%s`", transport->name);
	HINT(checker, "It goes with `poll`, and with the `start` of ssh and "
	              "exec, whose output is read while they run.");
}

static void
check_sub(struct checker *checker, struct decl *decl, struct clause *clause,
    struct sub *sub)
{
	switch (sub->kind) {
	case S_EVERY:
		check_every(checker, sub);
		break;
	case S_SUCCESS:
	case S_FAILURE:
		check_value(checker, sub->value);
		/* null counts as false here */
		sub->value->type =
		    type_required(checker->arena, sub->value->type);
		check_bool(checker, sub->value, "a condition");
		if (sub->as)
			check_value(checker, sub->as);
		break;
	case S_OUTPUT:
		if (decl->returns)
			check_value_as(
			    checker, sub->value, decl->returns, "the output");
		else
			check_value(checker, sub->value);
		break;
	case S_PROGRESS:
		check_progress(checker, clause, sub);
		break;
	default:
		check_value(checker, sub->value);
	}
}

static void
check_subs(struct checker *checker, struct decl *decl, struct clause *clause)
{
	struct sub *sub, *other;

	for (sub = clause->subs; sub; sub = sub->next) {
		for (other = clause->subs; other != sub; other = other->next)
			if (other->kind == sub->kind)
				COMPLAIN(checker, sub->start,
				    "`%s` is given twice",
				    sub_words[sub->kind]);
		if (!allowed[clause->kind][sub->kind])
			COMPLAIN(checker, sub->start,
			    "`%s` does not go with `%s`", sub_words[sub->kind],
			    request_words[clause->kind]);
		else
			check_sub(checker, decl, clause, sub);
	}
}

static void
allow_secrets(struct checker *checker, const struct transport_spec *transport,
    const struct arg *arg)
{
	const char *names =
	    transport_spec_secret_names(checker->arena, transport);

	checker->no_secret = NULL;
	if (transport_spec_takes_secret(transport, arg->name.text))
		secret_allow(arg->value);
	else if (*names)
		checker->no_secret = arena_printf(checker->arena,
		    "Of the arguments of `%s` these can hold secrets: %s.",
		    transport->name, names);
	else
		checker->no_secret = arena_printf(checker->arena,
		    "No argument of `%s` can hold one.", transport->name);
}

static void
check_transport_args(struct checker *checker, struct clause *clause,
    const struct transport_spec *transport)
{
	const struct type *type;
	struct arg *arg, *other;

	for (arg = clause->args; arg; arg = arg->next) {
		for (other = clause->args; other != arg; other = other->next)
			if (strcmp(other->name.text, arg->name.text) == 0)
				COMPLAIN(checker, arg->start,
				    "the argument `%s` is given twice",
				    arg->name.text);
		allow_secrets(checker, transport, arg);
		check_secret_header(checker, arg);
		if (strcmp(transport->name, "http") == 0)
			check_http_arg(checker, arg->name.text, arg->value);
		type = transport_spec_arg(transport, arg->name.text);
		if (type) {
			check_value_as(checker, arg->value, type,
			    arena_printf(checker->arena, "argument `%s`",
			        arg->name.text));
			continue;
		}
		check_value(checker, arg->value);
		COMPLAIN(checker, arg->start,
		    "the transport `%s` has no argument `%s`", transport->name,
		    arg->name.text);
		HINT(checker, "Its arguments are: %s.",
		    transport_spec_arg_names(checker->arena, transport));
	}
}

static void
check_request(struct checker *checker, struct decl *decl, struct clause *clause)
{
	const struct transport_spec *transport;
	struct scope scope;
	struct param *param;

	if (clause->kind == R_FETCH || clause->kind == R_CALLBACK) {
		check_unsupported(checker, clause->start,
		    request_words[clause->kind],
		    clause->kind == R_FETCH
		        ? "The output can be taken from the answer of `poll`."
		        : "The task `wf.Callback` waits for a callback.");
		return;
	}
	transport = transport_spec_find(clause->transport.text);
	if (!transport) {
		COMPLAIN(checker, clause->transport.start,
		    "there is no transport `%s`", clause->transport.text);
		HINT(checker, "Transports are %s.",
		    transport_spec_names(checker->arena));
		return;
	}
	scope_enter(checker, &scope);
	for (param = decl->params; param; param = param->next)
		scope_add(checker, &param->name, param->type);
	if (clause->kind != R_START)
		bind(checker, "handle", handle_type(checker, decl));
	checker->in_request = true;
	check_transport_args(checker, clause, transport);
	checker->in_request = false;
	checker->no_secret = NULL;
	if (clause->kind == R_START)
		bind(checker, "handle", handle_type(checker, decl));
	bind(checker, "response", transport->response);
	check_subs(checker, decl, clause);
	scope_leave(checker);
}

static void
check_wait(struct checker *checker, struct decl *decl, struct clause *wait)
{
	static const char *const waits[] = { "sleep", "moment", "signal",
		"callback", "child", "instance", "input", "fail" };
	size_t i;

	if (decl->clauses != wait || wait->next)
		COMPLAIN(
		    checker, wait->start, "`wait` stands alone in a task type");
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (strcmp(wait->transport.text, waits[i]) == 0)
			return;
	COMPLAIN(checker, wait->transport.start, "there is no wait `%s`",
	    wait->transport.text);
	HINT(checker,
	    "There are `sleep`, `moment`, `signal`, `callback`, `input`, "
	    "`child`, `instance` and `fail`.");
}

static void
check_clauses(struct checker *checker, struct decl *decl)
{
	struct clause *clause;

	for (clause = decl->clauses; clause; clause = clause->next) {
		if (find_clause(decl, clause->kind) != clause)
			COMPLAIN(checker, clause->start, "`%s` is given twice",
			    request_words[clause->kind]);
		if (clause->kind == R_WAIT)
			check_wait(checker, decl, clause);
		else
			check_request(checker, decl, clause);
	}
}

/* An output needs a source; cancel and cleanup need a handle. */
static void
check_whole(struct checker *checker, struct decl *decl)
{
	bool output = false, handle = false;
	const struct clause *clause;
	const struct sub *sub;

	if (find_clause(decl, R_WAIT))
		return;
	for (clause = decl->clauses; clause; clause = clause->next) {
		for (sub = clause->subs; sub; sub = sub->next) {
			output |= sub->kind == S_OUTPUT;
			handle |= sub->kind == S_HANDLE;
		}
	}
	if (!find_clause(decl, R_START))
		COMPLAIN(checker, decl->name.start,
		    "the task type `%s` has no `start`", decl->full_name);
	if (decl->returns && !decl->returns->optional && !output)
		COMPLAIN(checker, decl->name.start,
		    "no clause of `%s` has an `output`", decl->full_name);
	for (clause = decl->clauses; clause; clause = clause->next)
		if (!handle &&
		    (clause->kind == R_CANCEL || clause->kind == R_CLEANUP))
			COMPLAIN(checker, clause->start,
			    "`%s` is only sent if there is a handle",
			    request_words[clause->kind]);
}

void
check_task(struct checker *checker, struct decl *decl)
{
	struct scope scope;
	struct param *param;

	scope_enter(checker, &scope);
	for (param = decl->params; param; param = param->next)
		scope_add(checker, &param->name, param->type);
	check_policies(checker, decl->policies, POLICIES_OF_TYPE);
	scope_leave(checker);
	check_clauses(checker, decl);
	for (param = decl->params; param; param = param->next)
		if (param->value)
			check_http_given(
			    checker, decl, param->name.text, param->value);
	check_whole(checker, decl);
}
