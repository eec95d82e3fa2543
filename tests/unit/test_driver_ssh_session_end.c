/*
 * Sessions on a shared connection that are not wanted any more, or for which
 * there is too little; and clients of their own.
 */
#include "driver/transport/ssh/session.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "driver/transport/words.h"
#include "runtime/loop.h"
#include "tests/unit/ssh_master.h"
#include "tests/unit/unit.h"

enum {
	LOOK_MS = 5,
};

/* Ends that we want ------------------------------------------------------------ */

static void
test_a_session_that_is_killed_ends_once(void **state)
{
	(void)state;
	begin();
	settle();
	master_writes(1, "rest", 4);
	ssh_session_kill(session);
	ssh_session_kill(session);
	assert_int_equal(told.ended, 0); /* the event comes from the loop */
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_string_equal(told.streams[PIPE_OUT].data, "rest");
	RUN_UNTIL(master.left);
	assert_freed_silently();
}

static void
test_a_session_that_is_killed_after_its_exit_has_its_status(void **state)
{
	(void)state;
	begin();
	SAYS(EXITED(6));
	assert_nothing_told();
	ssh_session_kill(session);
	assert_ended(6, NULL);
	RUN_UNTIL(master.left);
}

static void
test_a_session_that_is_killed_at_once_ends_once(void **state)
{
	(void)state;
	ask("true");
	ssh_session_kill(session);
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_freed_silently();
}

static void
assert_not_asked_again(void)
{
	int before = asked;

	pass_time();
	assert_int_equal(asked, before);
}

static void
test_a_session_that_is_killed_before_it_stands_ends_once(void **state)
{
	(void)state;
	crowd_master();
	ask("true");
	ssh_session_kill(session);
	assert_ended(SSH_SESSION_REFUSED, LOST);
	(void)take_crowd();
	assert_not_asked_again();
	assert_int_equal(told.ended, 1);
	assert_freed_silently();
}

static void
test_a_session_that_should_end_has_some_time(void **state)
{
	(void)state;
	begin();
	settle();
	assert_true(ssh_session_end(session) > 0);
	assert_nothing_told();
	assert_false(master.left);
	SAYS(EXITED(0));
	master_hang_up();
	assert_ended(0, NULL);
}

static void
test_a_session_that_is_freed_while_the_master_is_busy_is_silent(void **state)
{
	(void)state;
	crowd_master();
	ask("true");
	ssh_session_free(session);
	session = NULL;
	(void)take_crowd();
	assert_not_asked_again();
	assert_freed_silently();
	assert_int_equal(told.ended, 0);
}

static void
test_a_session_that_is_freed_is_silent_at_each_stage(void **state)
{
	char *command = large_command();

	(void)state;
	ask("true");
	assert_freed_silently(); /* nothing is said */

	ask("true");
	RUN_UNTIL(master.fd >= 0);
	assert_freed_silently();

	ask(command);
	RUN_UNTIL(master.said.len > 0);
	assert_freed_silently(); /* half of the request is there */

	begin();
	master_writes(1, "unread", 6);
	ssh_session_write(session, "unread", 6);
	assert_freed_silently();

	begin();
	SAYS(EXITED(0));
	settle();
	assert_freed_silently();

	begin();
	ssh_session_kill(session);
	assert_freed_silently(); /* the event was on its way */
	assert_int_equal(told.ended, 0);
	free(command);
}

static void
test_a_session_that_is_freed_hangs_up(void **state)
{
	(void)state;
	begin();
	ssh_session_free(session);
	session = NULL;
	RUN_UNTIL(master.left);
	assert_nothing_told();
}

/* The same while no more than `limit` descriptors may be there. */
static bool
ask_within(rlim_t limit)
{
	struct rlimit old, low;
	struct error err = { 0 };

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	session = ssh_session_share(
	    loop, address.sun_path, "true", &events, &told, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	if (session != NULL)
		return true;
	assert_non_null(err.message);
	assert_non_null(
	    strstr(err.message, "cannot open pipes for a session: "));
	error_release(&err);
	return false;
}

static void
test_a_session_without_descriptors_leaves_none_open(void **state)
{
	rlim_t limit = 3;

	(void)state;
	for (; !ask_within(limit); limit++)
		assert_freed_silently();
	assert_true(limit > 3);
	/* there are pipes, and the socket was one too many */
	assert_ended(SSH_SESSION_REFUSED,
	    "the shared connection was not reached: Too many open files");
	assert_freed_silently();
	assert_true(ask_within(limit + 1));
	RUN_UNTIL(master.given == 3);
	assert_freed_silently();
}

/* A client of its own ---------------------------------------------------------- */

static void
run_alone(const char *script)
{
	struct words words = { 0 };
	struct error err = { 0 };

	words_add(&words, "/bin/sh");
	words_add(&words, "-c");
	words_add(&words, script);
	session = ssh_session_alone(loop, &words, &events, &told, &err);
	words_release(&words);
	assert_null(err.message);
	assert_non_null(session);
	assert_int_equal(told.ended, 0);
}

static void
test_a_client_of_its_own_ends_with_its_code(void **state)
{
	(void)state;
	run_alone("exit 7");
	assert_ended(7, NULL);
	assert_freed_silently();
}

static void
test_a_client_that_is_killed_by_a_signal_has_no_code(void **state)
{
	(void)state;
	run_alone("kill -KILL $$");
	assert_ended(SSH_SESSION_KILLED, NULL);
	assert_freed_silently();
}

static void
test_output_of_a_client_comes_before_its_end(void **state)
{
	(void)state;
	run_alone("echo out; echo error >&2; exit 255");
	assert_ended(SSH_SESSION_REFUSED, NULL);
	assert_string_equal(told.streams[PIPE_OUT].data, "out\n");
	assert_string_equal(told.streams[PIPE_ERR].data, "error\n");
}

static void
test_input_of_a_client_arrives_and_ends(void **state)
{
	(void)state;
	run_alone("cat");
	ssh_session_write(session, "some ", 5);
	ssh_session_write(session, "input", 5);
	ssh_session_close_input(session);
	assert_ended(0, NULL);
	assert_string_equal(told.streams[PIPE_OUT].data, "some input");
}

static void
test_a_client_that_we_kill_ends_once(void **state)
{
	(void)state;
	run_alone("trap '' TERM; echo ready; exec sleep 1000");
	assert_output(PIPE_OUT, "ready\n");
	ssh_session_kill(session);
	ssh_session_kill(session);
	assert_ended(SSH_SESSION_KILLED, NULL);
	ssh_session_kill(session); /* it is over: nobody else is killed */
	assert_freed_silently();
}

static void
test_a_client_that_should_end_is_told_and_has_some_time(void **state)
{
	(void)state;
	run_alone(
	    "trap 'exit 3' TERM; echo ready; while :; do sleep .01; done");
	assert_output(PIPE_OUT, "ready\n");
	assert_true(ssh_session_end(session) > 0);
	assert_ended(3, NULL);
}

static void
test_a_client_that_cannot_be_run_is_an_error(void **state)
{
	struct words words = { 0 };
	struct error err = { 0 };

	(void)state;
	words_add(&words, "/nowhere/ssh");
	session = ssh_session_alone(loop, &words, &events, &told, &err);
	words_release(&words);
	assert_null(session);
	assert_non_null(strstr(err.message, "cannot run /nowhere/ssh: "));
	error_release(&err);
	assert_freed_silently();
	assert_nothing_told();
}

static void
on_look(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void
test_a_client_that_is_freed_is_killed_silently(void **state)
{
	struct timer timer = { .fn = on_look };

	(void)state;
	run_alone("echo ready; exec sleep 1000");
	assert_output(PIPE_OUT, "ready\n");
	ssh_session_free(session);
	session = NULL;
	/* what is left of it is looked for by and by */
	while (count_descriptors() != descriptors ||
	       waitpid(-1, NULL, WNOHANG) == 0) {
		loop_timer_set(loop, &timer, LOOK_MS);
		loop_run(loop);
	}
	assert_int_equal(told.ended, 0);
}

static const struct CMUnitTest tests[] = {
	TEST(test_a_session_that_is_killed_ends_once),
	TEST(test_a_session_that_is_killed_after_its_exit_has_its_status),
	TEST(test_a_session_that_is_killed_at_once_ends_once),
	TEST(test_a_session_that_is_killed_before_it_stands_ends_once),
	TEST(test_a_session_that_should_end_has_some_time),
	TEST(test_a_session_that_is_freed_while_the_master_is_busy_is_silent),
	TEST(test_a_session_that_is_freed_is_silent_at_each_stage),
	TEST(test_a_session_that_is_freed_hangs_up),
	TEST(test_a_session_without_descriptors_leaves_none_open),
	TEST(test_a_client_of_its_own_ends_with_its_code),
	TEST(test_a_client_that_is_killed_by_a_signal_has_no_code),
	TEST(test_output_of_a_client_comes_before_its_end),
	TEST(test_input_of_a_client_arrives_and_ends),
	TEST(test_a_client_that_we_kill_ends_once),
	TEST(test_a_client_that_should_end_is_told_and_has_some_time),
	TEST(test_a_client_that_cannot_be_run_is_an_error),
	TEST(test_a_client_that_is_freed_is_killed_silently),
};

UNIT_TESTS(tests)
