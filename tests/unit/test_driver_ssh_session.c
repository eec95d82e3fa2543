/* A command's session on a shared connection, as its client serves it. */
#include "driver/transport/ssh/session.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"
#include "runtime/loop.h"
#include "tests/unit/ssh_master.h"
#include "tests/unit/unit.h"

/* A number in what the master was told. */
static uint32_t
number_at(size_t at)
{
	const unsigned char *bytes =
	    (const unsigned char *)master.said.data + at;

	assert_true(at + 4 <= master.said.len);
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

/* A shared session ----------------------------------------------------------- */

static void
test_a_session_sends_a_greeting_a_request_and_three_streams(void **state)
{
	static const unsigned char begins[] = { HELLO };
	static const unsigned char request[] = { 0x10, 0, 0, 2, N(0), N(0),
		N(0), N(0), N(0), N(0), 0xff, 0xff, 0xff, 0xff, N(0), N(7), 'e',
		'c', 'h', 'o', ' ', 'o', 'k' };
	size_t at = sizeof(begins) + 4, len;

	(void)state;
	ask("echo ok");
	RUN_UNTIL(master.given == 3);
	assert_memory_equal(master.said.data, begins, sizeof(begins));
	assert_memory_equal(master.said.data + at, request, sizeof(request));
	len = number_at(sizeof(begins));
	/* a byte with each stream */
	assert_int_equal(master.said.len, at + len + 3);
	assert_memory_equal(master.said.data + at + len, "\0\0\0", 3);
	assert_nothing_told();
}

static void
test_a_session_offers_only_the_variables_that_programs_get(void **state)
{
	size_t at, end;
	bool has_lang = false;

	(void)state;
	setenv("LANG", "of_a_test", 1);
	setenv("PGWF_TEST_SECRET", "secret", 1);
	begin();
	end = 16 + number_at(12);
	for (at = 16 + 36 + 4 + strlen("true"); at < end;
	     at += 4 + number_at(at)) {
		has_lang |= number_at(at) == strlen("LANG=of_a_test") &&
		            memcmp(master.said.data + at + 4, "LANG=of_a_test",
		                strlen("LANG=of_a_test")) == 0;
		assert_memory_not_equal(
		    master.said.data + at + 4, "PGWF", strlen("PGWF"));
	}
	assert_int_equal(at, end);
	assert_true(has_lang);
	unsetenv("PGWF_TEST_SECRET");
	unsetenv("LANG");
}

static void
test_output_of_a_shared_session_arrives(void **state)
{
	(void)state;
	begin();
	master_writes(1, "out", 3);
	assert_output(PIPE_OUT, "out");
	assert_int_equal(told.streams[PIPE_ERR].len, 0);
	master_writes(2, "error", 5);
	assert_output(PIPE_ERR, "error");
	master_writes(1, "put", 3);
	assert_output(PIPE_OUT, "output");
	assert_int_equal(told.ended, 0);
}

static void
test_output_that_ends_early_does_not_end_a_session(void **state)
{
	(void)state;
	begin();
	master_writes(1, "out", 3);
	master_close_stream(1);
	master_close_stream(2);
	assert_output(PIPE_OUT, "out");
	settle();
	assert_int_equal(told.ended, 0);
	SAYS(EXITED(3));
	master_hang_up();
	assert_ended(3, NULL);
}

static void
test_input_of_a_shared_session_arrives_and_ends(void **state)
{
	char text[16] = "";

	(void)state;
	ask("cat");
	ssh_session_write(session, "first, ", 7); /* before it is connected */
	RUN_UNTIL(master.given == 3);
	ssh_session_write(session, "second", 6);
	settle();
	assert_int_equal(read(master.streams[0], text, sizeof(text)), 13);
	assert_string_equal(text, "first, second");
	ssh_session_close_input(session);
	assert_int_equal(read(master.streams[0], text, sizeof(text)), 0);
	assert_nothing_told();
}

static void
on_input(void *arg, int ready)
{
	static char data[PIPE_SIZE];
	ssize_t len = read(master.streams[0], data, sizeof(data));

	(void)ready;
	assert_true(len >= 0);
	buf_add(arg, data, (size_t)len);
	if (len == 0)
		passes = 0;
	loop_stop(loop);
}

static void
test_input_that_a_pipe_cannot_hold_arrives_whole(void **state)
{
	enum { LARGE = 10 * PIPE_SIZE + 1 };
	char *large = xmalloc(LARGE);
	struct loop_watch *watch;
	struct buf input;
	size_t i;

	(void)state;
	for (i = 0; i < LARGE; i++)
		large[i] = (char)(i % 251);
	buf_init(&input, 0);
	begin();
	ssh_session_write(session, large, LARGE);
	ssh_session_close_input(session); /* when all is written */
	passes = 1;
	watch =
	    loop_watch(loop, master.streams[0], LOOP_READ, on_input, &input);
	RUN_UNTIL(passes == 0);
	loop_unwatch(watch);
	assert_int_equal(input.len, LARGE);
	assert_memory_equal(input.data, large, LARGE);
	buf_release(&input);
	free(large);
}

static void
test_input_that_nobody_reads_is_no_error(void **state)
{
	(void)state;
	begin();
	master_close_stream(0);
	ssh_session_write(session, "x", 1);
	assert_nothing_told();
	ssh_session_write(session, "x", 1);
	ssh_session_close_input(session);
	SAYS(EXITED(0));
	master_hang_up();
	assert_ended(0, NULL);
}

static void
test_a_stream_that_nobody_reads_is_closed(void **state)
{
	int before;

	(void)state;
	begin();
	settle();
	before = count_descriptors();
	master_close_stream(0);
	settle();
	assert_int_equal(count_descriptors(), before - 2); /* ours, too */
	assert_nothing_told();
}

static void
test_a_session_that_is_refused_says_why(void **state)
{
	(void)state;
	ask("true");
	RUN_UNTIL(master.given == 3);
	SAYS(HELLO, N(20), 0x80, 0, 0, 3, N(0), N(8), 't', 'o', 'o', ' ', 'm',
	    'a', 'n', 'y');
	assert_ended(SSH_SESSION_REFUSED, "too many");
	RUN_UNTIL(master.left);
	assert_freed_silently();
}

static void
test_a_session_that_is_not_permitted_says_why(void **state)
{
	(void)state;
	ask("true");
	RUN_UNTIL(master.given == 3);
	SAYS(HELLO, N(14), 0x80, 0, 0, 2, N(0), N(2), 'n', 'o');
	master_hang_up();
	assert_ended(SSH_SESSION_REFUSED, "no");
}

static void
test_an_end_comes_after_all_output(void **state)
{
	enum { LARGE = 4 * PIPE_SIZE }; /* far more than is read at once */
	char *large = xmalloc(LARGE);
	int i;

	(void)state;
	memset(large, 'x', LARGE);
	begin();
	SAYS(EXITED(7));
	settle();
	/* the end is seen in the same pass as the beginning of the output */
	for (i = 1; i < 3; i++) {
		assert_true(
		    fcntl(master.streams[i], F_SETPIPE_SZ, LARGE) >= LARGE);
		master_writes(i, large, LARGE);
	}
	master_hang_up();
	told.runs_on = true;
	assert_ended(7, NULL); /* though the streams are still open */
	for (i = 0; i < 2; i++) {
		assert_int_equal(told.streams[i].len, LARGE);
		assert_memory_equal(told.streams[i].data, large, LARGE);
	}
	free(large);
}

static void
test_a_session_ends_not_before_the_master_closes_it(void **state)
{
	(void)state;
	begin();
	SAYS(EXITED(7));
	assert_nothing_told();
	master_writes(1, "late", 4);
	assert_output(PIPE_OUT, "late");
	assert_int_equal(told.ended, 0);
	master_hang_up();
	assert_ended(7, NULL);
}

static void
test_a_status_has_eight_bits(void **state)
{
	(void)state;
	begin();
	SAYS(N(12), 0x80, 0, 0, 4, N(1), 0xff, 0xff, 0xff, 0xff);
	master_hang_up();
	assert_ended(255, NULL);
}

static void
test_answers_may_come_in_pieces(void **state)
{
	static const unsigned char answers[] = { HELLO, OPENED, EXITED(9) };
	static const size_t pieces[] = { 1, 7, 34 };
	size_t at, i, len;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		told.ended = 0;
		ask("true");
		RUN_UNTIL(master.given == 3);
		for (at = 0; at < sizeof(answers); at += len) {
			len = sizeof(answers) - at;
			len = len < pieces[i] ? len : pieces[i];
			master_says(answers + at, len);
			settle();
		}
		assert_nothing_told();
		master_hang_up();
		assert_ended(9, NULL);
		assert_freed_silently();
	}
}

static void
test_a_session_without_an_exit_was_lost(void **state)
{
	(void)state;
	begin();
	master_writes(1, "some", 4);
	master_hang_up();
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_string_equal(told.streams[PIPE_OUT].data, "some");
}

static void
test_a_master_that_ends_before_it_reads_was_lost(void **state)
{
	(void)state;
	ask("true");
	RUN_UNTIL(master.fd >= 0);
	master_hang_up();
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_freed_silently();
}

static void
test_half_of_an_answer_was_lost(void **state)
{
	(void)state;
	begin();
	SAYS(N(12), 0x80, 0, 0, 4, N(1), 0);
	master_hang_up();
	assert_ended(SSH_SESSION_REFUSED, LOST);
}

static void
test_a_wrong_answer_ends_a_session(void **state)
{
	(void)state;
	ask("true");
	RUN_UNTIL(master.given == 3);
	SAYS(N(8), N(1), N(5));
	assert_ended(SSH_SESSION_REFUSED, WRONG);
	RUN_UNTIL(master.left);
	assert_freed_silently();
}

static void
test_an_answer_without_end_ends_a_session(void **state)
{
	(void)state;
	begin();
	SAYS(0xff, 0xff, 0xff, 0xff);
	assert_ended(SSH_SESSION_REFUSED, WRONG);
}

static void
test_a_session_may_be_freed_when_it_ends(void **state)
{
	(void)state;
	told.frees = true;
	begin();
	SAYS(EXITED(1));
	master_hang_up();
	assert_ended(1, NULL);
	assert_null(session);
	assert_freed_silently();
}

/* Masters that are not there, busy or slow ----------------------------------- */

static void
test_a_session_without_a_socket_was_lost(void **state)
{
	(void)state;
	unlink(address.sun_path);
	ask("true");
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_freed_silently();
}

static void
test_a_session_at_a_socket_that_nobody_listens_at_was_lost(void **state)
{
	(void)state;
	master_stop_listening();
	descriptors--;
	ask("true");
	assert_ended(SSH_SESSION_REFUSED, LOST);
	assert_freed_silently();
}

static void
test_a_master_that_is_busy_is_asked_again(void **state)
{
	(void)state;
	crowd_master();
	ask("true");
	RUN_UNTIL(asked >= 3);
	assert_nothing_told();
	assert_int_equal(take_crowd(), 1); /* we are not among them */
	master_serves(true);
	RUN_UNTIL(master.given == 3);
	SAYS(HELLO, OPENED, EXITED(4));
	master_hang_up();
	assert_ended(4, NULL);
	assert_freed_silently();
}

static void
test_a_master_that_goes_while_it_is_asked_again_was_lost(void **state)
{
	(void)state;
	crowd_master();
	ask("true");
	unlink(address.sun_path);
	assert_ended(SSH_SESSION_REFUSED, LOST);
	(void)take_crowd();
	assert_freed_silently();
}

static void
test_a_large_request_arrives_whole_before_the_streams(void **state)
{
	char *command = large_command();
	size_t len = strlen(command);

	(void)state;
	master.piece = SLOW;
	ask(command);
	RUN_UNTIL(master.given == 3);
	assert_int_equal(number_at(16 + 36), len);
	assert_memory_equal(master.said.data + 16 + 40, command, len);
	assert_int_equal(master.said.len, 16 + number_at(12) + 3);
	/* the byte of the first stream was the first behind the request */
	assert_int_equal(master.early, 16 + number_at(12) + 1);
	SAYS(HELLO, OPENED, EXITED(5));
	master_hang_up();
	assert_ended(5, NULL);
	free(command);
}

/* Too many descriptors may be on their way, for instance. */
static void
test_streams_that_cannot_be_given_now_are_given_later(void **state)
{
	(void)state;
	refusals = 3;
	ask("true");
	RUN_UNTIL(master.given == 3);
	assert_int_equal(refusals, 0);
	SAYS(HELLO, OPENED, EXITED(2));
	master_hang_up();
	assert_ended(2, NULL);
	assert_freed_silently();
}

static void
test_a_session_that_waits_keeps_the_loop_asleep(void **state)
{
	uint64_t passed;

	(void)state;
	begin();
	settle();
	passed = loop_lag(loop).passes;
	pass_time();
	assert_true(loop_lag(loop).passes - passed < 10);
	assert_nothing_told();
}

static void
test_a_refusal_in_the_midst_of_a_request_is_heard(void **state)
{
	char *command = large_command();

	(void)state;
	master.piece = SLOW;
	ask(command);
	RUN_UNTIL(master.said.len > 0);
	SAYS(HELLO, N(17), 0x80, 0, 0, 3, N(0), N(5), 'l', 'a', 'r', 'g', 'e');
	master_hang_up();
	assert_ended(SSH_SESSION_REFUSED, "large");
	assert_freed_silently();
	free(command);
}

static const struct CMUnitTest tests[] = {
	TEST(test_a_session_sends_a_greeting_a_request_and_three_streams),
	TEST(test_a_session_offers_only_the_variables_that_programs_get),
	TEST(test_output_of_a_shared_session_arrives),
	TEST(test_output_that_ends_early_does_not_end_a_session),
	TEST(test_input_of_a_shared_session_arrives_and_ends),
	TEST(test_input_that_a_pipe_cannot_hold_arrives_whole),
	TEST(test_input_that_nobody_reads_is_no_error),
	TEST(test_a_stream_that_nobody_reads_is_closed),
	TEST(test_a_session_that_is_refused_says_why),
	TEST(test_a_session_that_is_not_permitted_says_why),
	TEST(test_an_end_comes_after_all_output),
	TEST(test_a_session_ends_not_before_the_master_closes_it),
	TEST(test_a_status_has_eight_bits),
	TEST(test_answers_may_come_in_pieces),
	TEST(test_a_session_without_an_exit_was_lost),
	TEST(test_a_master_that_ends_before_it_reads_was_lost),
	TEST(test_half_of_an_answer_was_lost),
	TEST(test_a_wrong_answer_ends_a_session),
	TEST(test_an_answer_without_end_ends_a_session),
	TEST(test_a_session_may_be_freed_when_it_ends),
	TEST(test_a_session_without_a_socket_was_lost),
	TEST(test_a_session_at_a_socket_that_nobody_listens_at_was_lost),
	TEST(test_a_master_that_is_busy_is_asked_again),
	TEST(test_a_master_that_goes_while_it_is_asked_again_was_lost),
	TEST(test_a_large_request_arrives_whole_before_the_streams),
	TEST(test_streams_that_cannot_be_given_now_are_given_later),
	TEST(test_a_session_that_waits_keeps_the_loop_asleep),
	TEST(test_a_refusal_in_the_midst_of_a_request_is_heard),
};

UNIT_TESTS(tests)
