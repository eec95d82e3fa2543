#include "driver/config/config.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "tests/unit/private.h"
#include "tests/unit/unit.h"

static char directory[256], path[300];

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
	check_refused("slots = 3;\nslots = 4;", "2: duplicate setting name");
	check_refused("slots = -4294967299;", "1: 4294967299 is too large");
	check_refused("slots = 1e3;", "1: slots must be a whole number");
	check_refused("slots = 0x80000000L;", "1: 0x80000000L is too large");
	check_refused("slots = 3;\n/* http: {};", "2: the comment has no end");
	check_refused("slots = 3;\nname = \"\xff\";", "2: is not UTF-8 text");
	check_refused("name = \"\\xff\";", "1: name is not UTF-8 text");
	check_refused("env = [\"A\", \"\\xc3\"];", "1: env is not UTF-8 text");
	check_refused("workspaces: { a: { connection = \"\\xff\"; }; };",
	    "1: a.connection is not UTF-8 text");
	check_refused("slots = 04294967297;", "1: 04294967297 is too large");
}

/* Write `len` bytes with that mode and read them; NULL if it is good. */
static char *
load_bytes(const char *bytes, size_t len, mode_t mode)
{
	struct config config;
	struct error err = { 0 };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
	config_preset(&config);
	if (!config_load(&config, path, &err))
		assert_non_null(err.message);
	config_release(&config);
	free(err.hint);
	free(err.detail);
	return err.message;
}

static void
check_file(const char *bytes, size_t len, mode_t mode, const char *expected)
{
	char *message = load_bytes(bytes, len, mode);

	if (expected == NULL)
		assert_null(message);
	else if (message == NULL || strstr(message, expected) == NULL)
		fail_msg("%s, not %s", message, expected);
	free(message);
}

static void
test_what_is_no_text(void **state)
{
	static char much[1 << 20];
	size_t i;

	(void)state;
	check_file("", 0, 0600, " is empty");
	check_file("slots = 3;\n\0nope", 16, 0600, ":2: is not UTF-8 text");
	check_file("\x7f"
	           "ELF\x02\0",
	    6, 0600, ":1: is not UTF-8 text");
	memset(much, '\n', sizeof(much));
	check_file(much, sizeof(much), 0600, NULL);
	for (i = 0; i + 3 <= sizeof(much); i += 3)
		memcpy(much + i, "a:{", 3);
	check_file(much, sizeof(much), 0600, ":1: memory exhausted");
}

static void
test_who_may_read_and_change(void **state)
{
	static const char *const passwords[] = {
		"connection = \"host=x password=y\";",
		"connection = \"host=x sslpassword=y\";",
		"sql_connection = \"postgresql://u:p@host/d\";",
		"sql_connection = \"postgresql://host/d?password=p\";",
		"workspaces: { a: { connection = \"password=y\"; }; };",
	};
	static const char none[] =
	    "name = \"password=y\"; connection = \"passfile=/p\";";
	/* root gives a file to a group on purpose */
	const char *to_group =
	    geteuid() == 0 ? NULL : "connection has a password, but";
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(passwords) / sizeof(passwords[0]); i++) {
		len = strlen(passwords[i]);
		check_file(passwords[i], len, 0600, NULL);
		check_file(
		    passwords[i], len, 0644, "connection has a password, but");
		check_file(passwords[i], len, 0640, to_group);
	}
	check_file(none, strlen(none), 0644, NULL);
	if (geteuid() == 0)
		check_file(
		    none, strlen(none), 0664, " may be changed by others");
	check_file(none, strlen(none), 0646, " may be changed by others");
	if (geteuid() == 0) {
		assert_int_equal(chmod(path, 0600), 0);
		assert_int_equal(chown(path, 65534, 0), 0);
		check_file(
		    none, strlen(none), 0600, " may be changed by others");
		assert_int_equal(chown(path, 0, 0), 0);
	}
}

static void
check_connection(const char *text, const char *expected)
{
	struct config config;
	struct error err = { 0 };

	config_preset(&config);
	assert_true(config_set(&config, text, &err));
	if (expected == NULL) {
		assert_true(config_check(&config, &err));
	} else {
		assert_false(config_check(&config, &err));
		assert_string_equal(err.message, expected);
		assert_non_null(err.hint);
	}
	error_release(&err);
	config_release(&config);
}

static void
test_connection_strings(void **state)
{
	static const char long_name[] =
	    "name="
	    "0123456789012345678901234567890123456789012345678901234567890123";

	(void)state;
	check_connection("connection=wf", NULL);
	check_connection("connection=host=a,b port=5432,5433", NULL);
	check_connection("connection=host=a,b port=,5433", NULL);
	check_connection("connection=postgresql://a:5433,b:5434/d", NULL);
	check_connection(
	    "connection=host=x port=99999", "connection: port is 99999");
	check_connection(
	    "sql_connection=port=5432,0", "sql_connection: port is 5432,0");
	check_connection("connection=port=5432x", "connection: port is 5432x");
	check_connection("workspaces.a.connection=port=-1",
	    "workspaces.a.connection: port is -1");
	check_connection("connection=host=x pasword=y",
	    "connection: invalid connection option \"pasword\"");
	check_connection("connection=host='",
	    "connection: unterminated quoted string in connection info string");
	check_connection(long_name, "name has more than 63 bytes");
	check_connection("sql_roles=pay_sql,etl", NULL);
	check_connection(
	    "sql_roles=pay_sql,,etl", "sql_roles has a name of 0 bytes");
}

static void
set(struct config *config, const char *text)
{
	struct error err = { 0 };

	assert_true(config_set(config, text, &err));
}

/* One password is not that of several roles. */
static void
test_a_password_beside_sql_roles(void **state)
{
	struct config config;
	struct error err = { 0 };

	(void)state;
	config_preset(&config);
	set(&config, "sql_connection=user=etl password=x");
	assert_true(config_check(&config, &err));
	set(&config, "sql_roles=pay_sql");
	assert_false(config_check(&config, &err));
	assert_string_equal(err.message,
	    "sql_connection has a password, which is that of one role, and "
	    "sql_roles names others");
	error_release(&err);
	set(&config, "sql_connection=user=etl passfile=/dev/null");
	assert_true(config_check(&config, &err));
	config_release(&config);
}

static void
test_mistakes_on_the_command_line(void **state)
{
	(void)state;
	check_set_refused("slots", "option slots has no value");
	check_set_refused("nope=1", "unknown option nope");
	check_set_refused("name=\xff", "an option is not UTF-8 text");
	check_set_refused("slots=", "slots must be a whole number");
	check_set_refused("slots=1e3", "slots must be a whole number");
	check_set_refused(
	    "slots=99999999999999999999", "slots must be a whole number");
	check_set_refused(
	    "slots=10001", "slots is 10001, outside of 1 to 10000");
	check_set_refused("log_json=yes", "log_json must be true or false");
	check_set_refused(
	    "slots=3000000000", "slots is 3000000000, outside of 1 to 10000");
	check_set_refused(
	    "slots=4294967299", "slots is 4294967299, outside of 1 to 10000");
	check_set_refused("slots=1.5", "slots must be a whole number");
	check_set_refused("slots=0x10", "slots must be a whole number");
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

static void
test_workspaces(void **state)
{
	struct config config, again;
	struct error err = { 0 };
	char *text;

	(void)state;
	assert_null(
	    load(&config, "workspaces: { a: { connection = \"dbname=a\"; };\n"
	                  "b-2: { connection = \"host=x,y\"; sql_connection = "
	                  "\"user=u\"; }; };"));
	assert_true(config_check(&config, &err));
	assert_int_equal(config_workspaces(&config), 2);
	assert_string_equal(config_workspace(&config, 0).name, "a");
	assert_string_equal(config_workspace(&config, 0).sql_connection, "");
	assert_string_equal(
	    config_workspace(&config, 1).connection, "host=x,y");
	text = print(&config);
	assert_null(load(&again, text));
	assert_string_equal(config_workspace(&again, 1).name, "b-2");
	assert_string_equal(
	    config_workspace(&again, 1).sql_connection, "user=u");
	free(text);

	/* as options, over what the file says */
	set(&again, "workspaces.a.connection=dbname=c");
	set(&again, "workspaces.c.connection=");
	assert_string_equal(config_workspace(&again, 0).connection, "dbname=c");
	assert_false(config_check(&again, &err));
	assert_string_equal(err.message, "workspaces.c has no connection");
	set(&again, "connection=dbname=d");
	assert_false(config_check(&again, &err));
	assert_string_equal(
	    err.message, "both workspaces and connection are given");
	set(&config, "slots=1");
	assert_false(config_check(&config, &err));
	assert_string_equal(err.message, "2 workspaces cannot share 1 slots");
	error_release(&err);
	config_release(&config);
	config_release(&again);

	/* without any there is the one that has no name */
	config_preset(&config);
	set(&config, "connection=dbname=d");
	assert_int_equal(config_workspaces(&config), 1);
	assert_string_equal(config_workspace(&config, 0).name, "");
	assert_string_equal(
	    config_workspace(&config, 0).connection, "dbname=d");
	config_release(&config);

	check_refused("workspaces: {\n a: { dbname = \"x\"; }; };",
	    "2: unknown option workspaces.a.dbname");
	check_refused("workspaces: { a: { connection = 3; }; };",
	    "1: workspaces.a.connection must be a string");
	check_refused("workspaces: { a = \"dbname=x\"; };",
	    "1: workspaces.a must be a group with a connection");
	check_refused("workspaces: { a: { }; };",
	    "1: workspaces.a must be a group with a connection");
	check_refused("workspaces = 3;", "1: unknown option workspaces");
	check_set_refused(
	    "workspaces.connection=x", "unknown option workspaces.connection");
	check_set_refused("workspaces..connection=x",
	    "unknown option workspaces..connection");
}

static int
set_up(void **state)
{
	(void)state;
	assert_true(private_directory(directory, sizeof(directory)));
	snprintf(path, sizeof(path), "%s/driver.conf", directory);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return unlink(path) + rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_printed_reads_back),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_mistakes_in_a_file_have_a_line),
		cmocka_unit_test(test_mistakes_on_the_command_line),
		cmocka_unit_test(test_what_is_no_text),
		cmocka_unit_test(test_who_may_read_and_change),
		cmocka_unit_test(test_connection_strings),
		cmocka_unit_test(test_a_password_beside_sql_roles),
		cmocka_unit_test(test_what_can_be_taken_is),
		cmocka_unit_test(test_workspaces),
		cmocka_unit_test(test_only_files_are_opened), /* the last */
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
