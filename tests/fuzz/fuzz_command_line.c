/*
 * The console's command line, an argument a line: read or refused with a
 * reason; parameters and selectors are JSON, SQL has as many parameters as it
 * names.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/pg_params.h"
#include "console/bind.h"
#include "console/command.h"
#include "console/invocation.h"
#include "console/parameters.h"
#include "console/selector.h"
#include "tests/fuzz/fuzz.h"

static const char declaration[] =
    "[{\"name\": \"day\", \"type\": \"date\"},"
    " {\"name\": \"n\", \"type\": \"int\"},"
    " {\"name\": \"x\", \"type\": \"number\"},"
    " {\"name\": \"any\", \"type\": \"json\"},"
    " {\"name\": \"all\", \"type\": {\"list\": \"string\"}}]";

/* A value that begins with @ is a file: there is nothing of that to try. */
static bool
names_file(const struct invocation *invocation)
{
	const char *text;
	size_t at = 0;

	while ((text = invocation_next(invocation, "param", &at)) != NULL) {
		text = strchr(text, '=');
		if (text[1] == '@' && text[2] != '@')
			return true;
	}
	return false;
}

static void
check_parameters(const struct invocation *invocation)
{
	struct error err = { 0 };
	struct json *declared = NULL;
	char *json;

	if (names_file(invocation))
		return;
	MUST(json_parse(declaration, strlen(declaration), &declared, &err));
	json = parameters_json(invocation, declared, &err);
	MUST((json == NULL) == (err.message != NULL));
	MUST(json == NULL || fuzz_is_json(json, strlen(json)));
	free(json);
	json_free(declared);
	error_release(&err);
}

static void
check_selector(const struct invocation *invocation)
{
	struct error err = { 0 };
	struct selector selector;
	bool ok = selector_init(&selector, invocation, &err);

	MUST(ok == (err.message == NULL));
	MUST(ok || err.hint != NULL || err.message != NULL);
	if (ok)
		MUST(fuzz_is_json(selector.json, strlen(selector.json)));
	selector_release(&selector);
	error_release(&err);
}

static void
check_sql(const struct invocation *invocation)
{
	struct pg_params params;
	char *sql;

	if (invocation->command->sql == NULL)
		return;
	pg_params_init(&params);
	sql = bind_sql(invocation->command->sql, invocation, &params);
	MUST(params.count == 0 || strstr(sql, "$1::") != NULL);
	free(sql);
	pg_params_release(&params);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct invocation invocation;
	struct error err = { 0 };
	char **argv = NULL;
	int argc = 0;

	do {
		argv = xreallocarray(argv, (size_t)argc + 2, sizeof(*argv));
		argv[argc] =
		    argc == 0 ? xstrdup("wf-console") : fuzz_line(&input);
	} while (argv[argc] != NULL && ++argc);
	if (invocation_parse(&invocation, argc, argv, &err)) {
		check_parameters(&invocation);
		check_selector(&invocation);
		check_sql(&invocation);
	} else {
		MUST(err.message != NULL && err.hint != NULL);
	}
	invocation_release(&invocation);
	error_release(&err);
	while (argc > 0)
		free(argv[--argc]);
	free(argv);
	return 0;
}
