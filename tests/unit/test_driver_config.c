#include "driver/config.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "tests/unit/unit.h"

static char path[64];

/* Read `text` as a file over the defaults; the error's message or NULL. */
static char *
load(struct config *config, const char *text)
{
	struct error err = { 0 };
	char *message = NULL;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	config_preset(config);
	if (!config_load(config, path, &err))
		message = strdup(strrchr(err.message, '/') + 1);
	error_release(&err);
	return message;
}

static void
check_refused(const char *text, const char *expected)
{
	struct config config;
	char *message = load(&config, text);

	assert_non_null(message);
	/* behind the file's name */
	assert_string_equal(strchr(message, ':') + 1, expected);
	free(message);
	config_release(&config);
}

static void
check_set_refused(const char *text, const char *expected)
{
	struct config config;
	struct error err = { 0 };

	config_preset(&config);
	assert_false(config_set(&config, text, &err));
	assert_string_equal(err.message, expected);
	assert_non_null(err.hint);
	error_release(&err);
	config_release(&config);
}

/* All of `config` as a file, for the caller to free(). */
static char *
print(const struct config *config)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	config_print(config, file);
	fclose(file);
	return text;
}

static void
test_what_is_printed_reads_back(void **state)
{
	struct config config, again;
	struct error err = { 0 };
	char *first, *second;

	(void)state;
	config_preset(&config);
	assert_true(config_set(&config, "connection=dbname='a \"b\"\\'", &err));
	assert_true(config_set(&config, "env=HOME,PATH", &err));
	assert_true(config_set(&config, "http.max_body=7", &err));
	assert_true(config_set(&config, "log_json=true", &err));
	first = print(&config);
	assert_null(load(&again, first));
	second = print(&again);
	assert_string_equal(first, second);
	assert_int_equal(again.http.max_body, 7);
	assert_true(again.log_json);
	assert_int_equal(again.env.count, 2);
	assert_string_equal(again.env.items[1], "PATH");
	assert_string_equal(again.connection, "dbname='a \"b\"\\'");
	free(first);
	free(second);
	config_release(&config);
	config_release(&again);
}

static void
test_file(void **state)
{
	struct config config;

	(void)state;
	assert_null(load(&config, "slots = 3;\nenv = (\"A\");\n"
	                          "ssh: { options = []; program = \"x\"; };"));
	assert_int_equal(config.slots, 3);
	assert_int_equal(config.env.count, 1);
	assert_int_equal(config.ssh.options.count, 0);
	assert_string_equal(config.ssh.program, "x");
	assert_int_equal(config.connections, 2);
	config_release(&config);
}

static void
test_mistakes_in_a_file_have_a_line(void **state)
{
	(void)state;
	check_refused("slots = 3;\nslotz = 4;", "2: unknown option slotz");
	check_refused("http: {\n nope = 4; };", "2: unknown option http.nope");
	check_refused("\n\nslots = \"3\";", "3: slots must be a whole number");
	check_refused("env = [1];", "1: env must be a list of strings");
	check_refused("env = \"A\";", "1: env must be a list of strings");
	check_refused("log_json = 1;", "1: log_json must be true or false");
	check_refused("http = 3;", "1: unknown option http");
	check_refused("slots = 0;", "1: slots is 0, outside of 1 to 10000");
	check_refused("slots = 4294967297;", "1: 4294967297 is too large");
	check_refused("# 3000000000\n/* \n 3000000000 */ name = \"9999999999\";"
	              "\n\nslots = 0x100000001;",
	    "5: 0x100000001 is too large");
	check_refused("\n@include \"/etc/passwd\"",
	    "2: no other file can be read from here");
	check_refused("slots = 3\nenv {", "2: syntax error");
}

static void
test_mistakes_on_the_command_line(void **state)
{
	(void)state;
	check_set_refused("slots", "option slots has no value");
	check_set_refused("nope=1", "unknown option nope");
	check_set_refused("slots=", "slots must be a whole number");
	check_set_refused("slots=1e3", "slots must be a whole number");
	check_set_refused(
	    "slots=99999999999999999999", "slots must be a whole number");
	check_set_refused(
	    "slots=10001", "slots is 10001, outside of 1 to 10000");
	check_set_refused("log_json=yes", "log_json must be true or false");
}

static void
set(struct config *config, const char *text)
{
	struct error err = { 0 };

	assert_true(config_set(config, text, &err));
}

static void
test_what_can_be_taken_is(void **state)
{
	struct config config, fresh;
	struct buf waiting;

	(void)state;
	config_preset(&config);
	config_preset(&fresh);
	buf_init(&waiting, 0);
	set(&config, "env=A,B");
	set(&config, "http.max_body=7");
	assert_false(config_take(&config, &fresh, &waiting));
	assert_int_equal(config.env.count, 0);
	assert_int_equal(config.http.max_body, 1048576);
	assert_int_equal(waiting.len, 0);

	set(&fresh, "env=A,C");
	set(&fresh, "log_json=true");
	set(&fresh, "log_level=debug");
	set(&fresh, "name=other");
	set(&fresh, "connections=3");
	assert_false(config_take(&config, &fresh, &waiting));
	assert_string_equal(config.env.items[1], "C");
	assert_true(config.log_json);
	assert_string_equal(config.log_level, "debug");
	assert_string_equal(config.name, "");
	assert_int_equal(config.connections, 2);
	assert_string_equal(waiting.data, "name, connections");

	set(&fresh, "slots=7");
	assert_true(config_take(&config, &fresh, &waiting));
	assert_int_equal(config.slots, 7);
	buf_release(&waiting);
	config_release(&config);
	config_release(&fresh);
}

static void
test_only_files_are_opened(void **state)
{
	struct config config;
	struct error err = { 0 };

	(void)state;
	config_preset(&config);
	assert_false(config_load(&config, "/nonexistent", &err));
	assert_false(config_load(&config, "/", &err));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(config_load(&config, path, &err));
	error_release(&err);
	config_release(&config);
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(
	    path, sizeof(path), "/tmp/test_driver_config.%ld", (long)getpid());
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_printed_reads_back),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_mistakes_in_a_file_have_a_line),
		cmocka_unit_test(test_mistakes_on_the_command_line),
		cmocka_unit_test(test_what_can_be_taken_is),
		cmocka_unit_test(test_only_files_are_opened),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
