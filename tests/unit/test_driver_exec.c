/* Programs of this host: what may be run, with what, and how it ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/outcome.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

static const char programs[] =
    "exec.programs=sh=/bin/sh,echo=/bin/echo -n fixed  words,gone=/nowhere/x,"
    "directory=/tmp,data=/etc/passwd,cat=/bin/cat,trick=/opt/x=/bin/echo";

struct fixture {
	struct config config;
	struct loop *loop;
	void *state;
	struct run *run;
	struct outcome outcome;
	struct json *body;
	struct timer timer; /* cancels */
};

static int
set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	struct error err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	fixture->loop = loop_new();
	config_preset(&fixture->config);
	assert_true(config_set(&fixture->config, programs, &err));
	assert_true(config_set(&fixture->config, "exec.env=SHOWN", &err));
	assert_true(config_set(&fixture->config, "exec.max_output=4096", &err));
	assert_true(
	    config_set(&fixture->config, "exec.kill_after_ms=100", &err));
	assert_true(transport_exec.open(
	    fixture->loop, &fixture->config, &fixture->state, &err));
	*state = fixture;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	json_free(fixture->body);
	outcome_release(&fixture->outcome);
	transport_exec.close(fixture->state);
	config_release(&fixture->config);
	loop_free(fixture->loop);
	free(fixture);
	return 0;
}

static void
on_done(void *arg, struct outcome *outcome)
{
	struct fixture *fixture = arg;

	fixture->outcome = *outcome;
	loop_stop(fixture->loop);
}

static void
on_cancel(void *arg)
{
	struct fixture *fixture = arg;

	transport_exec.cancel(fixture->run);
}

/* Run to the outcome; it is cancelled after `cancel_ms`, -1 is never. */
static void
run_with(struct fixture *fixture, const char *args, int64_t timeout_ms,
    int64_t cancel_ms)
{
	struct task task = {
		.args = args,
		.args_len = strlen(args),
		.timeout_ms = timeout_ms,
	};
	struct error err = { 0 };

	json_free(fixture->body);
	fixture->body = NULL;
	outcome_release(&fixture->outcome);
	fixture->timer = (struct timer){ .fn = on_cancel, .arg = fixture };
	fixture->run =
	    transport_exec.start(fixture->state, &task, on_done, fixture, &err);
	assert_non_null(fixture->run);
	if (cancel_ms >= 0)
		loop_timer_set(fixture->loop, &fixture->timer, cancel_ms);
	loop_run(fixture->loop);
	loop_timer_stop(fixture->loop, &fixture->timer);
	transport_exec.free(fixture->run);
	assert_true(json_parse(fixture->outcome.body.data,
	    fixture->outcome.body.len, &fixture->body, &err));
}

static void
run(struct fixture *fixture, const char *args)
{
	run_with(fixture, args, 60000, -1);
}

/* Run a script by sh. */
static void
run_script(struct fixture *fixture, const char *script)
{
	struct buf args;

	buf_init(&args, 0);
	buf_adds(&args, "{\"program\":\"sh\",\"args\":[\"-c\",");
	outcome_add_text(&args, script, strlen(script));
	buf_adds(&args, "]}");
	run(fixture, args.data);
	buf_release(&args);
}

static const char *
member(const struct fixture *fixture, const char *name)
{
	return json_string(json_get(fixture->body, name));
}

static void
check_response(
    const struct fixture *fixture, int64_t exit_code, const char *out)
{
	assert_int_equal(fixture->outcome.event, OUTCOME_RESPONSE);
	assert_int_equal(
	    json_int(json_get(fixture->body, "exit_code")), exit_code);
	assert_string_equal(member(fixture, "stdout"), out);
}

static void
check_error(
    const struct fixture *fixture, const char *kind, const char *message)
{
	assert_int_equal(fixture->outcome.event, OUTCOME_ERROR);
	assert_string_equal(member(fixture, "kind"), kind);
	assert_string_equal(member(fixture, "message"), message);
}

/* Nothing is begun. */
static void
check_refused(struct fixture *fixture, const char *args, const char *message)
{
	struct task task = { .args = args, .args_len = strlen(args) };
	struct error err = { 0 };

	assert_null(transport_exec.start(
	    fixture->state, &task, on_done, fixture, &err));
	assert_string_equal(err.message, message);
	error_release(&err);
}

static void
test_nothing_is_offered_without_a_list(void **state)
{
	struct config config;
	struct error err = { 0 };
	void *exec;

	(void)state;
	config_preset(&config);
	assert_false(transport_exec.open(NULL, &config, &exec, &err));
	assert_null(err.message);
	assert_true(config_set(&config, "exec.programs=ls=bin/ls", &err));
	assert_false(transport_exec.open(NULL, &config, &exec, &err));
	assert_string_equal(
	    err.message, "exec.programs: \"ls=bin/ls\" is not a program");
	error_release(&err);
	assert_true(config_set(&config, "exec.programs=/bin/ls", &err));
	assert_false(transport_exec.open(NULL, &config, &exec, &err));
	error_release(&err);
	config_release(&config);
}

static void
test_words_arrive_as_they_are(void **state)
{
	run(*state,
	    "{\"program\":\"echo\",\"args\":[\"--help; $HOME\",\"*\"]}");
	check_response(*state, 0, "fixed words --help; $HOME *");
	run(*state,
	    "{\"program\":\"cat\",\"args\":[\"--\",\"-\"],\"stdin\":\"in\"}");
	check_response(*state, 0, "in");
}

static void
test_only_what_is_on_the_list(void **state)
{
	static const char *const names[] = { "", "ls", "/bin/sh", "bin/sh",
		"../bin/sh", "./sh", "sh=/bin/sh", "trick=/opt/x", "-sh",
		"sh " };
	char *args, *message;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		args = xasprintf("{\"program\":\"%s\"}", names[i]);
		message = xasprintf("this driver has no program %s", names[i]);
		check_refused(*state, args, message);
		free(message);
		free(args);
	}
}

static void
test_wrong_arguments(void **state)
{
	check_refused(*state, "{}", "program must be a string without a NUL");
	check_refused(*state, "{\"program\":\"sh\\u0000x\"}",
	    "program must be a string without a NUL");
	check_refused(*state, "{\"program\":\"sh\",\"args\":\"-c\"}",
	    "args must be a list of strings");
	check_refused(*state,
	    "{\"program\":\"sh\",\"args\":[\"a\",\"b\\u0000c\"]}",
	    "args[1] must be a string without a NUL");
	check_refused(*state, "{\"program\":\"sh\",\"stdin\":5}",
	    "stdin must be a string");
	check_refused(
	    *state, "{\"program\":\"sh\",\"env\":[]}", "env must be an object");
	check_refused(*state,
	    "{\"program\":\"sh\",\"env\":{\"SHOWN\":\"a\\u0000b\"}}",
	    "env: SHOWN must be a string without a NUL");
}

static void
test_environment_is_ours_to_give(void **state)
{
	static const char *const names[] = { "LD_PRELOAD", "PATH", "BASH_ENV",
		"", "SHOWN=x", "shown" };
	char *args, *message;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		args = xasprintf(
		    "{\"program\":\"sh\",\"env\":{\"%s\":\"x\"}}", names[i]);
		message = xasprintf(
		    "env: this driver lets no workflow set %s", names[i]);
		check_refused(*state, args, message);
		free(message);
		free(args);
	}
	setenv("SSH_AUTH_SOCK", "hidden", 1);
	setenv("PGPASSWORD", "hidden", 1);
	run(*state,
	    "{\"program\":\"sh\",\"args\":[\"-c\",\"echo $SHOWN; env | grep -c "
	    "hidden; pwd\"],\"env\":{\"SHOWN\":\"a b\"}}");
	check_response(*state, 0, "a b\n0\n/\n");
}

static void
test_what_cannot_be_run_is_an_outcome(void **state)
{
	run(*state, "{\"program\":\"gone\"}");
	check_error(*state, "exec",
	    "gone: cannot run /nowhere/x: No such file or directory");
	run(*state, "{\"program\":\"directory\"}");
	check_error(
	    *state, "exec", "directory: cannot run /tmp: Permission denied");
	run(*state, "{\"program\":\"data\"}");
	check_error(
	    *state, "exec", "data: cannot run /etc/passwd: Permission denied");
	run_with(*state, "{\"program\":\"gone\"}", 1, 0);
}

static void
test_how_it_ends(void **state)
{
	run_script(*state, "echo out; echo err >&2; exit 7");
	check_response(*state, 7, "out\n");
	assert_string_equal(member(*state, "stderr"), "err\n");
	run_script(*state, "kill -9 $$");
	check_response(*state, 137, "");
	run_script(*state, "printf '\\377ok'");
	check_response(*state, 0, "\xef\xbf\xbdok");
}

static void
test_the_end_of_much_is_kept(void **state)
{
	struct fixture *fixture = *state;
	const char *out;

	run_script(fixture, "seq 100000; exec 1>&-; yes 2>&1 >&2 | head -c "
	                    "9000000 >&2");
	out = member(fixture, "stdout");
	assert_int_equal(strncmp(out, "[", 1), 0);
	assert_non_null(strstr(out, " bytes cut]\n"));
	assert_string_equal(out + strlen(out) - 8, "\n100000\n");
	assert_true(strlen(member(fixture, "stderr")) < 5000);
}

/* The process has to be gone after a moment at the latest. */
static void
check_gone(pid_t pid)
{
	int tries = 3000;

	while (kill(pid, 0) == 0 && tries-- > 0)
		usleep(10000);
	assert_true(tries > 0);
}

static void
test_what_it_leaves_behind_is_killed(void **state)
{
	struct fixture *fixture = *state;

	run_script(
	    fixture, "trap '' TERM HUP; (sleep 1000; echo late) & echo $!");
	assert_int_equal(fixture->outcome.event, OUTCOME_RESPONSE);
	check_gone(atoi(member(fixture, "stdout")));
}

/* A session of its own is not in the group; nobody waits for it. */
static void
test_who_got_away_holds_nobody_up(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid;

	run_script(fixture, "exec 3>&1; echo $(setsid sh -c "
	                    "'sleep 1000 >&3 2>&3 & echo $!')");
	pid = atoi(member(fixture, "stdout"));
	assert_true(pid > 1);
	kill(pid, SIGKILL);
}

static void
test_time_limit(void **state)
{
	run_with(*state,
	    "{\"program\":\"sh\",\"args\":[\"-c\",\"sleep 1000 & wait\"]}", 100,
	    -1);
	check_error(*state, "timeout", "sh did not end within 100 ms");
}

static void
test_cancel_is_term_then_kill(void **state)
{
	run_with(*state,
	    "{\"program\":\"sh\",\"args\":[\"-c\",\"sleep 1000\"]}", 0, 50);
	check_error(*state, "cancelled", "sh was cancelled");
	run_with(*state,
	    "{\"program\":\"sh\",\"args\":[\"-c\","
	    "\"trap '' TERM; while :; do sleep 1000; done\"]}",
	    0, 200);
	check_error(*state, "cancelled", "sh was cancelled");
}

static void
test_descriptors_stay_here(void **state)
{
	/* neither of ours nor of who started us, close-on-exec or not */
	int secret = open("/etc/hostname", O_RDONLY);

	assert_true(fcntl(secret, F_DUPFD, 100) >= 100);
	run_script(*state, "ls /proc/$$/fd; :");
	check_response(*state, 0, "0\n1\n2\n");
	close(secret);
}

static void
test_freed_while_it_runs(void **state)
{
	struct fixture *fixture = *state;
	static const char args[] =
	    "{\"program\":\"sh\",\"args\":[\"-c\",\"sleep 1000\"]}";
	struct task task = { .args = args, .args_len = strlen(args) };
	struct error err = { 0 };

	fixture->run =
	    transport_exec.start(fixture->state, &task, on_done, fixture, &err);
	assert_non_null(fixture->run);
	transport_exec.free(fixture->run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nothing_is_offered_without_a_list),
	TEST(test_words_arrive_as_they_are),
	TEST(test_only_what_is_on_the_list),
	TEST(test_wrong_arguments),
	TEST(test_environment_is_ours_to_give),
	TEST(test_what_cannot_be_run_is_an_outcome),
	TEST(test_how_it_ends),
	TEST(test_the_end_of_much_is_kept),
	TEST(test_what_it_leaves_behind_is_killed),
	TEST(test_who_got_away_holds_nobody_up),
	TEST(test_time_limit),
	TEST(test_cancel_is_term_then_kill),
	TEST(test_descriptors_stay_here),
	TEST(test_freed_while_it_runs),
};

UNIT_TESTS(tests)
