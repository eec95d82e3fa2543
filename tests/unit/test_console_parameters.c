#include "console/parameters.h"

#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "console/invocation.h"

#include "tests/unit/unit.h"

static const char declaration[] =
    "[{\"name\": \"day\", \"type\": \"date\"},"
    " {\"name\": \"who\", \"type\": \"string\"},"
    " {\"name\": \"n\", \"type\": \"int\"},"
    " {\"name\": \"x\", \"type\": \"number\"},"
    " {\"name\": \"on\", \"type\": \"bool\"},"
    " {\"name\": \"any\", \"type\": \"json\"},"
    " {\"name\": \"all\", \"type\": {\"list\": \"string\"}},"
    " {\"name\": \"maybe\", \"type\": {\"optional\": \"int\"}}]";

static struct json *
declared(void)
{
	struct json *value = NULL;

	assert_true(json_parse(declaration, strlen(declaration), &value, NULL));
	return value;
}

/* --param for each of `texts`, up to NULL, over --params if not NULL. */
static char *
give(const char *params, const char *const *texts, struct error *err)
{
	struct json *types = declared();
	struct invocation invocation = { 0 };
	char *json;

	if (params != NULL)
		invocation_add(&invocation, "params", "OBJECT", params);
	for (; *texts != NULL; texts++)
		invocation_add(&invocation, "param", "PARAM=VALUE", *texts);
	json = parameters_json(&invocation, types, err);
	json_free(types);
	invocation_release(&invocation);
	return json;
}

static void
check(const char *text, const char *expected)
{
	char *json = give(NULL, (const char *const[]){ text, NULL }, NULL);

	assert_string_equal(json, expected);
	free(json);
}

static void
test_values_go_by_the_declared_type(void **state)
{
	(void)state;
	check("day=2026-11-21", "{\"day\":\"2026-11-21\"}");
	check("who=17", "{\"who\":\"17\"}");
	check("who=true", "{\"who\":\"true\"}");
	check("who=\"x\"", "{\"who\":\"x\"}");
	check("who=", "{\"who\":\"\"}");
	check("who=a=b", "{\"who\":\"a=b\"}");
	check("n=17", "{\"n\":17}");
	check("n=many", "{\"n\":\"many\"}");
	check("x=1.50", "{\"x\":1.50}");
	check("on=true", "{\"on\":true}");
	check("on=1", "{\"on\":\"1\"}");
	check("any={\"a\": [1]}", "{\"any\":{\"a\": [1]}}");
	check("all=[\"eu\"]", "{\"all\":[\"eu\"]}");
	check("all=eu", "{\"all\":\"eu\"}");
	check("maybe=null", "{\"maybe\":null}");
	check("maybe=3", "{\"maybe\":3}");
	check("unknown=3", "{\"unknown\":3}");
	check("unknown=x", "{\"unknown\":\"x\"}");
	check("who=@@home", "{\"who\":\"@home\"}");
}

static void
test_several(void **state)
{
	char *json;

	(void)state;
	json = give(NULL, (const char *const[]){ NULL }, NULL);
	assert_string_equal(json, "{}");
	free(json);
	json = give("{\"n\": 1, \"who\": \"a\"}",
	    (const char *const[]){ "n=2", "who=b", "n=3", NULL }, NULL);
	assert_string_equal(json, "{\"who\":\"b\",\"n\":3}");
	free(json);
	json = give("{\"n\": 1, \"who\": \"a\"}",
	    (const char *const[]){ "n=2", NULL }, NULL);
	assert_string_equal(json, "{\"who\":\"a\",\"n\":2}");
	free(json);
}

static void
test_files(void **state)
{
	char path[] = "/tmp/wf-parameters-XXXXXX", text[64];
	struct error err = { 0 };
	char *json;
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	fputs("two\nlines", file);
	fclose(file);
	snprintf(text, sizeof(text), "who=@%s", path);
	json = give(NULL, (const char *const[]){ text, NULL }, &err);
	assert_string_equal(json, "{\"who\":\"two\\nlines\"}");
	free(json);
	unlink(path);
	assert_null(give(NULL, (const char *const[]){ text, NULL }, &err));
	assert_non_null(strstr(err.message, "No such file"));
	error_release(&err);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_values_go_by_the_declared_type),
	cmocka_unit_test(test_several),
	cmocka_unit_test(test_files),
};

UNIT_TESTS(tests)
