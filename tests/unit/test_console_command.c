#include "console/command.h"

#include "common/error.h"
#include "common/pg_params.h"
#include "console/bind.h"
#include "console/invocation.h"
#include "console/selector.h"
#include "console/value.h"

#include "tests/unit/unit.h"

#define ARGUMENTS_MAX 16

/* Parse `line`, split at spaces; "_" stands for a space in an argument. */
static bool
parse(struct invocation *invocation, const char *line, struct error *err)
{
	static char words[512];
	char *argv[ARGUMENTS_MAX] = { words };
	int argc = 1;
	char *at;

	*err = (struct error){ 0 };
	strcpy(words, "wf-console ");
	strcat(words, line);
	for (at = words; (at = strchr(at, ' ')) != NULL;) {
		*at++ = '\0';
		if (*at != '\0')
			argv[argc++] = at;
	}
	for (at = words; at < words + sizeof(words) - 1; at++)
		if (*at == '_')
			*at = ' ';
	return invocation_parse(invocation, argc, argv, err);
}

static void
accepts(const char *line, const char *pattern)
{
	struct invocation invocation;
	struct error err;

	if (!parse(&invocation, line, &err))
		fail_msg("%s: %s", line, err.message);
	assert_string_equal(invocation.command->pattern, pattern);
	invocation_release(&invocation);
}

static void
refuses(const char *line, const char *message)
{
	struct invocation invocation;
	struct error err;

	assert_false(parse(&invocation, line, &err));
	assert_string_equal(err.message, message);
	assert_non_null(err.hint);
	error_release(&err);
	invocation_release(&invocation);
}

static void
test_commands(void **state)
{
	(void)state;
	accepts("list", "list");
	accepts("-d x list --failed --limit 3", "list");
	accepts("list -o json -y", "list");
	accepts("-ojson list", "list");
	accepts("group set etl 3", "group set NAME MAX");
	accepts("show 17", "show INSTANCE");
	accepts("show 17/42", "show PROCESS");
	accepts("run a.wf", "run FILE [WORKFLOW]");
	accepts("run a.wf b -p x=1 --param=y=2", "run FILE [WORKFLOW]");
	accepts("check -- -a.wf b.wf", "check FILE...");
	accepts("tree --help", "tree INSTANCE");
	accepts("--help", "help [COMMAND...]");
	accepts("--version", "version");
	accepts("-p 5433 start x -p day=1", "start WORKFLOW");
}

static void
test_usage_errors(void **state)
{
	(void)state;
	refuses("", "no command given");
	refuses("--", "no command given");
	refuses("lsit", "unknown command \"lsit\"");
	refuses("workspace", "\"workspace\" needs a second word");
	refuses("workspace frob", "\"workspace\" needs a second word");
	refuses("tree", "INSTANCE is missing");
	refuses("tree abc", "INSTANCE can't be \"abc\"");
	refuses("tree 0", "INSTANCE can't be \"0\"");
	refuses("tree 9223372036854775808",
	    "INSTANCE can't be \"9223372036854775808\"");
	refuses("tree 1 2", "\"2\" is one argument too many");
	refuses("retry --id -1", "--id can't be \"-1\"");
	refuses("list --limt 3", "unknown option --limt");
	refuses("list -z", "unknown option -z");
	refuses("list --limit", "--limit needs a value: COUNT");
	refuses("list --failed=yes", "--failed takes no value");
	refuses("list --limit 1 --limit 2", "--limit is given twice");
	refuses("list --workflow \xff", "--workflow is not valid UTF-8");
	refuses("show 17/", "PROCESS can't be \"17/\"");
	refuses("start x --params [1]", "--params can't be \"[1]\"");
	refuses("start x -p y", "--param can't be \"y\"");
	refuses("-o xml list", "--format can't be \"xml\"");
	refuses("list --password x", "unknown option --password");
}

static void
check_bound(const char *line, const char *sql, const char *expected, int count,
    const char *const *values)
{
	struct invocation invocation;
	struct pg_params params;
	struct error err;
	char *text;
	int i;

	assert_true(parse(&invocation, line, &err));
	pg_params_init(&params);
	text = bind_sql(sql, &invocation, &params);
	assert_string_equal(text, expected);
	assert_int_equal(params.count, count);
	for (i = 0; i < count; i++)
		if (values[i] == NULL)
			assert_null(params.values[i]);
		else if (params.formats[i] == 0)
			assert_string_equal(params.values[i], values[i]);
	free(text);
	pg_params_release(&params);
	invocation_release(&invocation);
}

static void
test_binding(void **state)
{
	(void)state;
	check_bound("tree 17", "select x::text from f(:instance)",
	    "select x::text from f($1::bigint)", 1,
	    (const char *const[]){ "17" });
	check_bound("explain 17/42", "f(:instance, :process)",
	    "f($1::bigint, $2::bigint)", 2,
	    (const char *const[]){ "17", "42" });
	check_bound("explain 17", "f(:instance, :process)",
	    "f($1::bigint, $2::bigint)", 2,
	    (const char *const[]){ "17", NULL });
	check_bound("list --failed", ":failed :limit :workflow",
	    "$1::boolean $2::integer $3::text", 3,
	    (const char *const[]){ "true", NULL, NULL });
	check_bound("list", ":failed :state", "$1::boolean $2::text[]", 2,
	    (const char *const[]){ "false", NULL });
	check_bound("list --state A --state B", ":state", "$1::text[]", 1,
	    (const char *const[]){ "" });
}

static void
check_selector(const char *line, const char *json, bool is_single)
{
	struct invocation invocation;
	struct selector selector;
	struct error err;

	assert_true(parse(&invocation, line, &err));
	assert_true(selector_init(&selector, &invocation, &err));
	assert_string_equal(selector.json, json);
	assert_int_equal(selector.is_single, is_single);
	selector_release(&selector);
	invocation_release(&invocation);
}

static void
check_narrowed(const char *line, const char *json)
{
	struct invocation invocation;
	struct selector selector;
	struct error err;

	assert_true(parse(&invocation, line, &err));
	assert_true(selector_init(&selector, &invocation, &err));
	selector_narrow(&selector, "{[3,5)}", 17);
	assert_string_equal(selector.json, json);
	selector_release(&selector);
	invocation_release(&invocation);
}

static void
refuse_selector(const char *line, const char *message)
{
	struct invocation invocation;
	struct selector selector;
	struct error err;

	assert_true(parse(&invocation, line, &err));
	assert_false(selector_init(&selector, &invocation, &err));
	assert_string_equal(err.message, message);
	error_release(&err);
	selector_release(&selector);
	invocation_release(&invocation);
}

static void
test_selectors(void **state)
{
	(void)state;
	check_selector(
	    "retry 17/42", "{\"instance\":[17],\"process\":[42]}", true);
	check_selector("retry 17", "{\"instance\":[17]}", false);
	check_selector("retry 17/42 --id 18/43",
	    "{\"instance\":[17,18],\"process\":[42,43]}", false);
	check_selector(
	    "retry 17 --failed", "{\"instance\":[17],\"failed\":true}", false);
	check_selector("retry --root 17/4 --state FAILED --state INIT",
	    "{\"instance\":[17],\"root\":4,\"state\":[\"FAILED\",\"INIT\"]}",
	    false);
	check_selector("retry --root 4", "{\"root\":4}", false);
	check_selector("abort --workflow a\"b --older-than 7_days --tag t",
	    "{\"workflow\":\"a\\\"b\",\"tag\":\"t\","
	    "\"older_than\":\"7 days\"}",
	    false);
	check_selector("retry --failed", "{\"failed\":true}", false);
	check_selector("action -a retry --failed",
	    "{\"failed\":true,\"latest\":true}", false);
	check_selector("action -a retry --global", "{\"latest\":true}", false);
	check_selector("action -a retry --failed --id 17",
	    "{\"instance\":[17],\"failed\":true}", false);
	check_selector(
	    "action -a retry --global --root 4", "{\"root\":4}", false);
	check_narrowed(
	    "retry --failed", "{\"failed\":true,\"among\":\"{[3,5)}\"}");
	check_narrowed("retry 17", "{\"instance\":[17],\"among\":\"{[3,5)}\"}");
	check_narrowed("action -a retry --failed",
	    "{\"failed\":true,\"instance\":[17],\"among\":\"{[3,5)}\"}");
	refuse_selector("retry", "no target is given");
	refuse_selector(
	    "retry 17 18/3", "instances and processes can't be mixed");
	refuse_selector("retry --tag a --tag b", "only one --tag can select");
}

static bool
is_option(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < command_option_count; i++)
		if (strlen(command_options[i].name) == len &&
		    strncmp(command_options[i].name, name, len) == 0)
			return true;
	return false;
}

/* Every word of a row means something: value_check aborts if a type doesn't. */
static void
test_the_table_is_sound(void **state)
{
	struct error ignored = { 0 };
	struct placeholder found;
	const struct command *command = NULL;
	const char *word;
	size_t i, at;

	(void)state;
	while ((command = command_next(command)) != NULL) {
		for (at = 0; pattern_next(command->pattern, &at, &found);)
			value_check(found.name, found.len, "x", "x", &ignored);
		for (word = command->options; word != NULL && *word != '\0';
		     word += strcspn(word, " "), word += strspn(word, " "))
			assert_true(is_option(word, strcspn(word, " ")));
		assert_true(command->sql != NULL || command->run != NULL);
		assert_non_null(command->summary);
	}
	for (i = 0; i < command_option_count; i++)
		if (command_options[i].value != NULL)
			value_check(command_options[i].value,
			    strlen(command_options[i].value), "x", "x",
			    &ignored);
	error_release(&ignored);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_commands),
	cmocka_unit_test(test_usage_errors),
	cmocka_unit_test(test_binding),
	cmocka_unit_test(test_selectors),
	cmocka_unit_test(test_the_table_is_sound),
};

UNIT_TESTS(tests)
