#include "driver/transport/ssh/wrapper.h"

#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "driver/transport/ssh/scripts.h"
#include "tests/unit/unit.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static struct json *
parse(const char *text)
{
	struct json *value;
	struct error err = { 0 };

	assert_true(json_parse(text, strlen(text), &value, &err));
	return value;
}

/* What the command of `args` writes on standard output, run by a shell. */
static void
check_run(const char *args, const char *input, const char *expected)
{
	struct json *json = parse(args);
	struct error err = { 0 };
	struct buf command, output, line, input_text;
	char chunk[256];
	size_t len;
	FILE *pipe;

	buf_init(&command, 0);
	buf_init(&output, 0);
	buf_init(&line, 0);
	buf_init(&input_text, 0);
	assert_true(ssh_wrapper_env(&line, json_get(json, "env"), &err));
	ssh_wrapper_go(&input_text, line.data, input, strlen(input));
	buf_adds(&command, "{ printf '%s' ");
	ssh_wrapper_quote(&command, input_text.data);
	buf_adds(&command, "; sleep 1; } | ");
	buf_release(&line);
	assert_true(ssh_wrapper_command(&command,
	    &(struct ssh_wrapper){
	        .nonce = NONCE,
	        .command = json_get(json, "command"),
	    },
	    &err));
	buf_adds(&command, " 2>/dev/null");
	pipe = popen(command.data, "r");
	assert_non_null(pipe);
	while ((len = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		buf_add(&output, chunk, len);
	pclose(pipe);
	assert_string_equal(output.data, expected);
	buf_release(&input_text);
	buf_release(&output);
	buf_release(&command);
	json_free(json);
}

static void
test_words_arrive_as_they_are(void **state)
{
	(void)state;
	check_run("{\"command\": [\"printf\", \"%s|\", \"a b\", \"it's\", "
	          "\"$HOME `x` \\\\ \\\"\", \"*\", \"\", \"-n\", \"\\n\"]}",
	    "",
	    NONCE " begun\na b|it's|$HOME `x` \\ \"|*||-n|\n|" NONCE
	          " exit 0\n");
}

static void
test_exit_code_and_environment(void **state)
{
	(void)state;
	check_run("{\"command\": [\"sh\", \"-c\", \"echo $A; exit 7\"],"
	          " \"env\": {\"A\": \"x 'y'\"}}",
	    "", NONCE " begun\nx 'y'\n" NONCE " exit 7\n");
	check_run("{\"command\": [\"sh\", \"-c\", \"printf '%s|' \\\"$l\\\" "
	          "\\\"$e\\\" \\\"$n\\\"; cat\"],"
	          " \"env\": {\"l\": \" $x `y` \\\\\", \"e\": \"\\n\\n'a\\n\","
	          " \"n\": \"$l\\\"\"}}",
	    "rest",
	    NONCE " begun\n $x `y` \\|\n\n'a\n|$l\"|rest" NONCE " exit 0\n");
}

static void
test_shell_words_do_not_leave_the_wrapper(void **state)
{
	(void)state;
	check_run("{\"command\": [\"exit\", \"3\"]}", "",
	    NONCE " begun\n" NONCE " exit 3\n");
}

static void
test_rest_of_input_is_the_commands(void **state)
{
	(void)state;
	check_run("{\"command\": [\"cat\"]}", "one\ntwo",
	    NONCE " begun\none\ntwo" NONCE " exit 0\n");
}

static void
test_script_comes_by_standard_input(void **state)
{
	(void)state;
	check_run("{}", "echo from script; exit 4",
	    NONCE " begun\nfrom script\n" NONCE " exit 4\n");
}

/* Scripts ------------------------------------------------------------------ */

static void
test_scripts_are_one_line_without_comments(void **state)
{
	(void)state;
	assert_null(strchr(ssh_script_ender, '\n'));
	assert_null(strchr(ssh_script_wrapper, '\n'));
	assert_null(strchr(ssh_script_ender, '#'));
	assert_null(strchr(ssh_script_wrapper, '#'));
}

/* Whether a shell of that name is here. */
static bool
has_shell(const char *shell)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", shell);
	return system(command) == 0;
}

/*
 * What `shell` says of the session of a command that the ender has ended: a child
 * that ends when it is told to, and one that has to be killed.
 */
static void
check_ender(const char *shell, const char *expected)
{
	static const char script[] =
	    "t=$(mktemp -d); mkfifo $t/up; "
	    "setsid sh -c 'trap \"\" TERM; sleep 999 & "
	    "(trap - TERM; exec sleep 998) & "
	    "echo up >\"$1\"; wait; exec sleep 997' sh $t/up & s=$!; "
	    "read -r _ <$t/up; rm -r $t; "
	    "%s -c \"$ENDER\" sh $s 1; "
	    "ps -A -o sid= -o pid= -o stat= | awk -v s=$s "
	    "'$1 == s && $3 !~ /^Z/ { print $2 == s ? \"leader\" : \"other\" "
	    "}' "
	    "| sort | uniq -c | tr -s ' '; kill -KILL -$s";
	char command[sizeof(script) + 16], said[256] = "";
	FILE *pipe;

	setenv("ENDER", ssh_script_ender, 1);
	snprintf(command, sizeof(command), script, shell);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	said[fread(said, 1, sizeof(said) - 1, pipe)] = '\0';
	pclose(pipe);
	assert_string_equal(said, expected);
}

static void
test_the_ender_leaves_the_first_process_alone(void **state)
{
	static const char *const shells[] = { "sh", "dash", "bash",
		"busybox sh" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (has_shell(shells[i]))
			check_ender(shells[i], " 1 leader\n");
}

static void
check_refused(const char *args, const char *message)
{
	struct json *json = parse(args);
	struct error err = { 0 };
	struct buf command;

	buf_init(&command, 0);
	assert_false(ssh_wrapper_command(&command,
	                 &(struct ssh_wrapper){
	                     .nonce = NONCE,
	                     .command = json_get(json, "command"),
	                 },
	                 &err) &&
	             ssh_wrapper_env(&command, json_get(json, "env"), &err));
	assert_string_equal(err.message, message);
	error_release(&err);
	buf_release(&command);
	json_free(json);
}

/* With these words it is so long, quoted and wrapped. */
static bool
has_room_for(size_t words)
{
	struct error err = { 0 };
	struct buf command, text;
	struct json *json;
	bool ok;

	buf_init(&command, 0);
	buf_init(&text, 0);
	buf_adds(&text, "{\"command\": [\"echo\", \"");
	while (words-- > 0)
		buf_adds(&text, "123456789 ");
	buf_adds(&text, "\"]}");
	json = parse(text.data);
	ok = ssh_wrapper_command(&command,
	    &(struct ssh_wrapper){
	        .nonce = NONCE,
	        .command = json_get(json, "command"),
	    },
	    &err);
	if (!ok)
		assert_non_null(strstr(err.message, "command is too long: 1"));
	else
		assert_true(command.len <= SSH_COMMAND_MAX);
	error_release(&err);
	buf_release(&command);
	buf_release(&text);
	json_free(json);
	return ok;
}

static void
test_a_command_that_no_host_takes_is_refused(void **state)
{
	(void)state;
	assert_true(has_room_for(12000));
	assert_false(has_room_for(13200));
}

static void
test_what_no_shell_can_take_is_refused(void **state)
{
	(void)state;
	check_refused(
	    "{\"command\": \"ls -l\"}", "command must be a list of strings");
	check_refused("{\"command\": []}", "command must be a list of strings");
	check_refused(
	    "{\"command\": [\"a\", 1]}", "command[1] must be a string");
	check_refused(
	    "{\"command\": [\"a\\u0000b\"]}", "command[0] must be a string");
	check_refused("{\"env\": {\"A;rm\": \"x\"}}",
	    "env: A;rm must be a variable's name, its value a string");
	check_refused("{\"env\": {\"A\": 1}}",
	    "env: A must be a variable's name, its value a string");
	check_refused("{\"env\": []}", "env must be an object");
}

static void
check_record(const char *text, size_t from, enum ssh_record record, size_t at,
    size_t length, int exit_code)
{
	struct ssh_record_found found =
	    ssh_wrapper_find(text, strlen(text), from, NONCE);

	assert_int_equal(found.record, record);
	assert_int_equal(found.at, at);
	assert_int_equal(found.length, length);
	assert_int_equal(found.exit_code, exit_code);
}

static void
test_records_are_found(void **state)
{
	(void)state;
	check_record(NONCE " begun\n", 0, SSH_RECORD_BEGUN, 0, 39, 0);
	check_record("noise" NONCE " begun\nx", 0, SSH_RECORD_BEGUN, 5, 39, 0);
	check_record("no newline" NONCE " exit 130\nleft behind", 0,
	    SSH_RECORD_EXIT, 10, 42, 130);
	check_record(
	    NONCE " begun\n" NONCE " exit 2\n", 1, SSH_RECORD_EXIT, 39, 40, 2);
}

static void
test_halves_and_forgeries_are_not(void **state)
{
	(void)state;
	check_record("", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE " exit 0", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE, 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE " other\n", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE " exit \n", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE " exit x\n", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE " exit 1000\n", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record(NONCE "0 exit 0\n", 0, SSH_RECORD_NONE, 0, 0, 0);
	check_record("1123456789abcdef0123456789abcdef exit 0\n", 0,
	    SSH_RECORD_NONE, 0, 0, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_words_arrive_as_they_are),
	cmocka_unit_test(test_exit_code_and_environment),
	cmocka_unit_test(test_shell_words_do_not_leave_the_wrapper),
	cmocka_unit_test(test_rest_of_input_is_the_commands),
	cmocka_unit_test(test_script_comes_by_standard_input),
	cmocka_unit_test(test_scripts_are_one_line_without_comments),
	cmocka_unit_test(test_the_ender_leaves_the_first_process_alone),
	cmocka_unit_test(test_a_command_that_no_host_takes_is_refused),
	cmocka_unit_test(test_what_no_shell_can_take_is_refused),
	cmocka_unit_test(test_records_are_found),
	cmocka_unit_test(test_halves_and_forgeries_are_not),
};

UNIT_TESTS(tests)
