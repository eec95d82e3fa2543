#include "console/lang/transport_spec.h"

#include <stddef.h>
#include <string.h>

#include "console/lang/arena.h"
#include "console/lang/type.h"

/* clang-format off */
static const struct type
	string = { .kind = TYPE_STRING, .optional = true },
	number = { .kind = TYPE_INT, .optional = true },
	boolean = { .kind = TYPE_BOOL, .optional = true },
	object = { .kind = TYPE_OBJECT, .optional = true },
	list = { .kind = TYPE_LIST, .optional = true },
	duration = { .kind = TYPE_DURATION, .optional = true },
	sql = { .kind = TYPE_SQL },
	shell = { .kind = TYPE_SHELL, .optional = true },
	json = { .kind = TYPE_JSON, .optional = true },
	strings = { .kind = TYPE_LIST, .optional = true,
	    .element = &type_basic[TYPE_STRING] },
	numbers = { .kind = TYPE_LIST, .optional = true,
	    .element = &type_basic[TYPE_INT] };

static const struct transport_arg builtin_args[] = {
	{ "op", &type_basic[TYPE_STRING] },
	{ "message", &string },
	{ "name", &string },
	{ "kind", &string },
	{ "detail", &json },
	{ "attempts", &number },
	{ "timeout", &duration },
	{ NULL, NULL },
};

static const struct transport_arg exec_args[] = {
	{ "program", &type_basic[TYPE_STRING] },
	{ "args", &strings },
	{ "stdin", &string },
	{ "env", &object },
	{ "timeout", &duration },
	{ NULL, NULL },
};

static const struct transport_arg http_args[] = {
	{ "method", &string },
	{ "url", &type_basic[TYPE_STRING] },
	{ "query", &object },
	{ "headers", &object },
	{ "body", &json },
	{ "form", &object },
	{ "accept", &numbers },
	{ "keyed", &boolean },
	{ "timeout", &duration },
	{ NULL, NULL },
};

static const struct transport_arg sql_args[] = {
	{ "statement", &sql },
	{ "params", &list },
	{ "rows", &boolean },
	{ "timeout", &duration },
	{ NULL, NULL },
};

static const struct transport_arg ssh_args[] = {
	{ "host", &type_basic[TYPE_STRING] },
	{ "user", &string },
	{ "port", &number },
	{ "command", &strings },
	{ "script", &shell },
	{ "stdin", &string },
	{ "env", &object },
	{ "timeout", &duration },
	{ NULL, NULL },
};

#define FIELD(next, name, kind) \
	(struct field *)&(const struct field){ next, name, &type_basic[kind] }

static const struct type
	http_response = { .kind = TYPE_OBJECT, .closed = true, .fields =
	    FIELD(FIELD(FIELD(FIELD(NULL, "url", TYPE_STRING),
		"body", TYPE_JSON), "headers", TYPE_OBJECT),
		"status", TYPE_INT) },
	sql_response = { .kind = TYPE_OBJECT, .closed = true, .fields =
	    FIELD(FIELD(NULL, "count", TYPE_INT), "rows", TYPE_LIST) },
	run_response = { .kind = TYPE_OBJECT, .closed = true, .fields =
	    FIELD(FIELD(FIELD(NULL, "stderr", TYPE_STRING),
		"stdout", TYPE_STRING), "exit_code", TYPE_INT) };

static const struct transport_spec transports[] = {
	{ "builtin", builtin_args, &type_basic[TYPE_JSON], false, { NULL } },
	{ "exec", exec_args, &run_response, true, { "stdin", "env" } },
	{ "http", http_args, &http_response, false, { "headers", "body", "form" } },
	{ "sql", sql_args, &sql_response, false, { NULL } },
	{ "ssh", ssh_args, &run_response, true, { "stdin", "env" } },
};
/* clang-format on */

enum { TRANSPORTS = sizeof(transports) / sizeof(transports[0]) };

const struct transport_spec *
transport_spec_find(const char *name)
{
	size_t i;

	for (i = 0; i < TRANSPORTS; i++)
		if (strcmp(transports[i].name, name) == 0)
			return &transports[i];
	return NULL;
}

const struct type *
transport_spec_arg(const struct transport_spec *transport, const char *name)
{
	const struct transport_arg *arg;

	for (arg = transport->args; arg->name; arg++)
		if (strcmp(arg->name, name) == 0)
			return arg->type;
	return NULL;
}

bool
transport_spec_takes_secret(
    const struct transport_spec *transport, const char *name)
{
	const char *const *arg;

	for (arg = transport->secrets; *arg; arg++)
		if (strcmp(*arg, name) == 0)
			return true;
	return false;
}

static char *
add_name(struct arena *arena, char *text, const char *name)
{
	return arena_printf(arena, "%s%s%s", text, *text ? ", " : "", name);
}

char *
transport_spec_names(struct arena *arena)
{
	char *text = "";
	size_t i;

	for (i = 0; i < TRANSPORTS; i++)
		text = add_name(arena, text, transports[i].name);
	return text;
}

char *
transport_spec_arg_names(
    struct arena *arena, const struct transport_spec *transport)
{
	const struct transport_arg *arg;
	char *text = "";

	for (arg = transport->args; arg->name; arg++)
		text = add_name(arena, text, arg->name);
	return text;
}

char *
transport_spec_secret_names(
    struct arena *arena, const struct transport_spec *transport)
{
	const char *const *arg;
	char *text = "";

	for (arg = transport->secrets; *arg; arg++)
		text = add_name(arena, text, *arg);
	return text;
}

void
transport_spec_print(FILE *file)
{
	const char *const *arg;
	size_t i;

	for (i = 0; i < TRANSPORTS; i++) {
		fprintf(file, "%s %s ", transports[i].name,
		    transports[i].streams ? "t" : "f");
		for (arg = transports[i].secrets; *arg; arg++)
			fprintf(file, "%s%s",
			    arg > transports[i].secrets ? "," : "", *arg);
		fputc('\n', file);
	}
}
