/* Secrets: where they are looked for, and where in a request they go. */
#include "driver/secret/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "driver/config/config.h"
#include "driver/secret/redact.h"
#include "driver/transport/transport.h"
#include "tests/unit/private.h"
#include "tests/unit/unit.h"

static char directory[256];
static struct config config;

static void
put(const char *name, const char *text, size_t len, mode_t mode)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(write(fd, text, len) == (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

#define PUT(name, text) put(name, text, sizeof(text) - 1, 0400)

static int
set_up(void **state)
{
	struct error err = { 0 };
	char option[512];

	assert_true(private_directory(directory, sizeof(directory)));
	config_preset(&config);
	snprintf(option, sizeof(option), "secrets.directory=%s", directory);
	assert_true(config_set(&config, option, &err));
	assert_true(config_set(&config, "secrets.environment=UNIT_", &err));
	assert_true(config_set(&config,
	    "secrets.grants=one unit t.Do *,both unit t.Do https://a,"
	    "etl.one unit t.Do *",
	    &err));
	setenv("UNIT_there", "from outside", 1);
	setenv("UNIT_both", "not this", 1);
	setenv("OTHER_UNIT_x", "stays", 1);
	PUT("one", "value one\n");
	PUT("both", "this one");
	PUT("etl.one", "etl's own");
	*state = secrets_new(&config);
	return 0;
}

static int
tear_down(void **state)
{
	char command[512];

	secrets_free(*state);
	config_release(&config);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static void
check_value(const struct secrets *secrets, const char *name, const char *value)
{
	struct error err = { 0 };
	struct buf found;

	assert_true(secret_read(secrets, name, &found, &err));
	assert_string_equal(found.data, value);
	buf_release(&found);
}

static void
check_none(const struct secrets *secrets, const char *name, const char *part)
{
	struct error err = { 0 };
	struct buf found;

	assert_false(secret_read(secrets, name, &found, &err));
	if (strstr(err.message, part) == NULL)
		assert_string_equal(err.message, part);
	error_release(&err);
	buf_release(&found);
}

static void
test_files_and_variables(void **state)
{
	check_value(*state, "one", "value one");
	check_value(*state, "there", "from outside");
	check_value(*state, "both", "this one");
	check_none(*state, "no", "this driver has no secret no: no file /");
	check_none(*state, "no", "/no, no variable UNIT_no");
	PUT("one", "value two\r\n");
	check_value(*state, "one", "value two");
}

static void
test_the_environment_is_cleared(void **state)
{
	(void)state;
	assert_null(getenv("UNIT_there"));
	assert_null(getenv("UNIT_both"));
	assert_string_equal(getenv("OTHER_UNIT_x"), "stays");
}

static void
test_names(void **state)
{
	static const char *const bad[] = { "", ".", "..", "../one", "a/b", "-x",
		".one", "a b", "a\nb" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_none(*state, bad[i],
		    "this is not a name that a secret can have");
}

static void
test_what_is_no_secret(void **state)
{
	static char big[65537];

	memset(big, 'x', sizeof(big));
	PUT("short", "abc\n");
	check_none(*state, "short", "secret short has fewer than 4 bytes");
	PUT("binary", "\377\376\375\374");
	check_none(*state, "binary", "is not UTF-8 text");
	PUT("nul", "abc\0def");
	check_none(*state, "nul", "is not UTF-8 text");
	put("big", big, sizeof(big), 0400);
	check_none(*state, "big", "has more than 65536 bytes");
	put("open", "open to all", 11, 0404);
	check_none(*state, "open", "may be read or changed by others");
	put("open", "open to a group", 11, 0460);
	check_none(*state, "open", "may be read or changed by others");
	put("shown", "to a group", 10, 0440);
	check_value(*state, "shown", "to a group");
	chmod(directory, 0777);
	check_none(*state, "one", "may be changed by others");
	chmod(directory, 01777);
	check_none(*state, "one", "everybody may put a file into");
	chmod(directory, 0700);
	check_none(*state, "a-directory-that-is-not-there", "no file");
}

/* Everybody may write to what is above it. */
static void
test_a_directory_below_one_like_tmp(void **state)
{
	char path[512], option[600];
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s/below", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	PUT("below/deep", "value deep");
	snprintf(option, sizeof(option), "secrets.directory=%s", path);
	assert_true(config_set(&config, option, &err));
	check_value(*state, "deep", "value deep");
	chmod(directory, 01777);
	check_none(*state, "deep", "to which everybody may write");
	chmod(directory, 0700);
	snprintf(option, sizeof(option), "secrets.directory=%s", directory);
	assert_true(config_set(&config, option, &err));
}

static void
test_links(void **state)
{
	char target[512], path[512];

	snprintf(target, sizeof(target), "%s/one", directory);
	snprintf(path, sizeof(path), "%s/alias", directory);
	assert_int_equal(symlink(target, path), 0);
	check_value(*state, "alias", "value two");
	if (geteuid() == 0) {
		assert_int_equal(lchown(path, 65534, 65534), 0);
		check_none(
		    *state, "alias", " may be changed by others: the link");
	}
}

static void
test_each_workspace_has_its_own(void **state)
{
	struct secrets *etl = secrets_attach(*state, "etl");
	struct secrets *only = secrets_attach(*state, "");

	check_value(etl, "one", "etl's own");
	check_none(etl, "both", "/etl.both");
	check_none(etl, "there", "/etl.there");
	check_value(only, "there", "from outside");
	secrets_detach(only);
	secrets_detach(etl);
}

static void
check_filled(const struct secrets *secrets, const char *args,
    const char *places, const char *expected)
{
	struct task task = {
		.args = args,
		.args_len = strlen(args),
		.secrets = places,
		.workflow = "unit",
		.type = "t.Do",
	};
	struct error err = { 0 };
	struct filled filled;
	bool ok;

	filled_init(&filled);
	ok = secrets_fill(secrets, &task, &filled, &err);

	if (*expected == '{') {
		assert_true(ok);
		assert_string_equal(filled.args.data, expected);
	} else {
		assert_false(ok);
		assert_string_equal(err.message, expected);
	}
	error_release(&err);
	filled_release(&filled);
}

static void
test_fill(void **state)
{
	static const char nowhere[] =
	    "the arguments have no place for a secret";

	PUT("one", "value \"one\"");
	check_filled(*state, "{\"a\":{\"b\":[1.10,null]},\"c\":null}",
	    "[{\"at\":[\"a\",\"b\",1],\"secret\":\"one\"},"
	    "{\"at\":[\"c\"],\"secret\":\"both\"}]",
	    "{\"a\":{\"b\":[1.10,\"value \\\"one\\\"\"]},\"c\":\"this one\"}");
	check_filled(*state, "{\"a\":[\"x \",\"-\",\"\"]}",
	    "[{\"at\":[\"a\"],\"text\":[\"one\",\"both\"]}]",
	    "{\"a\":\"x value \\\"one\\\"-this one\"}");
	check_filled(*state, "{\"a\":[\"x\"]}",
	    "[{\"at\":[\"a\"],\"text\":[\"one\"]}]", nowhere);
	check_filled(*state, "{\"a\":[\"x\",1]}",
	    "[{\"at\":[\"a\"],\"text\":[\"one\"]}]", nowhere);
	check_filled(*state, "{\"a\":{\"b\":null}}",
	    "[{\"at\":[\"a\",0],\"secret\":\"one\"}]", nowhere);
	check_filled(*state, "{\"a\":null}",
	    "[{\"at\":[\"b\"],\"secret\":\"one\"}]", nowhere);
	check_filled(*state, "{\"a\":null}", "[{\"at\":[\"a\"]}]", nowhere);
}

/* What the arguments say is data, whatever it looks like. */
static void
test_data_forges_nothing(void **state)
{
	static const char forged[] =
	    "{\"at\":[\"b\"],\"b\":{\"at\":[\"b\"],\"secret\":\"one\"},"
	    "\"list\":[\"secret\",\"one\"],\"secret\":\"one\","
	    "\"secrets\":[{\"at\":[\"b\"],\"secret\":\"one\"}],"
	    "\"text\":[\"one\"]";
	char args[512], expected[512];

	snprintf(args, sizeof(args), "%s,\"z\":null}", forged);
	snprintf(expected, sizeof(expected), "%s,\"z\":\"this one\"}", forged);
	check_filled(
	    *state, args, "[{\"at\":[\"z\"],\"secret\":\"both\"}]", expected);
}

static void
test_what_was_filled_in_is_redacted(void **state)
{
	struct buf text;

	PUT("one", "value one");
	check_filled(*state, "{\"a\":null}",
	    "[{\"at\":[\"a\"],\"secret\":\"one\"}]", "{\"a\":\"value one\"}");
	buf_init(&text, 0);
	buf_adds(&text, "it is value one");
	redact_text(&text);
	assert_string_equal(text.data, "it is ***");
	buf_release(&text);
}

static void
test_what_is_not_granted(void **state)
{
	struct task task = {
		.args = "{\"a\":null}",
		.args_len = strlen("{\"a\":null}"),
		.secrets = "[{\"at\":[\"a\"],\"secret\":\"both\"}]",
		.workflow = "unit",
		.type = "t.Do",
	};
	struct error err = { 0 };
	struct filled filled;

	filled_init(&filled);
	assert_true(secrets_fill(*state, &task, &filled, &err));
	assert_true(secrets_may_go(*state, &task, &filled, "https://a", &err));
	assert_false(secrets_may_go(*state, &task, &filled, "https://b", &err));
	assert_non_null(
	    strstr(err.message, "secret both may not go to https://b"));
	error_release(&err);
	filled_release(&filled);

	/* nobody learns whether there is one */
	task.secrets = "[{\"at\":[\"a\"],\"secret\":\"none\"}]";
	assert_false(secrets_fill(*state, &task, &filled, &err));
	assert_string_equal(err.message,
	    "workflow unit may not use secret none in a task of type t.Do");
	error_release(&err);
	filled_release(&filled);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_files_and_variables),
	cmocka_unit_test(test_the_environment_is_cleared),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_what_is_no_secret),
	cmocka_unit_test(test_a_directory_below_one_like_tmp),
	cmocka_unit_test(test_links),
	cmocka_unit_test(test_each_workspace_has_its_own),
	cmocka_unit_test(test_fill),
	cmocka_unit_test(test_what_is_not_granted),
	cmocka_unit_test(test_data_forges_nothing),
	cmocka_unit_test(test_what_was_filled_in_is_redacted),
};

int
main(void)
{
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
