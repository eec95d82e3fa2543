#include "runtime/loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "runtime/lookup.h"
#include "tests/unit/unit.h"

static struct loop *loop;
static char seen[64];

/* System calls that fail: how many of the next ones, and with which errno. */
static struct {
	int count, code;
} bad_ctl, bad_wait, bad_event;

#define FAILS(bad) ((bad).count > 0 && (bad).count-- > 0)

int
epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	int (*real)(int, int, int, struct epoll_event *);

	*(void **)&real = dlsym(RTLD_NEXT, "epoll_ctl");
	if (operation == EPOLL_CTL_DEL || !FAILS(bad_ctl))
		return real(epoll_fd, operation, fd, event);
	errno = bad_ctl.code;
	return -1;
}

int
epoll_wait(int epoll_fd, struct epoll_event *events, int most, int ms)
{
	int (*real)(int, struct epoll_event *, int, int);

	*(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
	if (!FAILS(bad_wait))
		return real(epoll_fd, events, most, ms);
	errno = bad_wait.code;
	return -1;
}

int
eventfd(unsigned int value, int flags)
{
	int (*real)(unsigned int, int);

	*(void **)&real = dlsym(RTLD_NEXT, "eventfd");
	if (!FAILS(bad_event))
		return real(value, flags);
	errno = bad_event.code;
	return -1;
}

/* Append the letter that `arg` points to; "." ends the loop. */
static void
note(void *arg)
{
	strncat(seen, arg, 1);
	if (*(char *)arg == '.')
		loop_stop(loop);
}

static void
set_timer(struct timer *timer, const char *letter, int64_t ms)
{
	timer->fn = note;
	timer->arg = (char *)letter;
	loop_timer_set(loop, timer, ms);
}

static void
test_timers_come_in_their_order(void **state)
{
	struct timer a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 }, end = { 0 };

	(void)state;
	set_timer(&end, ".", 12);
	set_timer(&a, "a", 6);
	set_timer(&b, "b", 1);
	set_timer(&c, "c", 3);
	set_timer(&d, "d", 2);
	loop_timer_stop(loop, &d);
	loop_timer_stop(loop, &d);
	set_timer(&b, "b", 9);
	loop_run(loop);
	assert_string_equal(seen, "cab.");
}

static void
test_many_timers(void **state)
{
	static struct timer timers[500];
	struct timers heap = { 0 };
	struct timer *first;
	int64_t former = 0;
	int left = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < 500; i++) {
		timers[i].due.ns = rand() % 1000;
		timers_set(&heap, &timers[i]);
	}
	for (int i = 0; i < 500; i += 3)
		timers_stop(&heap, &timers[i]);
	for (int i = 1; i < 500; i += 3) {
		timers[i].due.ns = rand() % 1000;
		timers_set(&heap, &timers[i]);
	}
	while ((first = timers_first(&heap)) != NULL) {
		assert_true(first->due.ns >= former);
		former = first->due.ns;
		timers_stop(&heap, first);
		left++;
	}
	assert_int_equal(left, 333);
	timers_release(&heap);
}

static void
test_calls_come_once_and_can_be_withdrawn(void **state)
{
	struct loop_call a = { .fn = note, .arg = "a" };
	struct loop_call b = { .fn = note, .arg = "b" };
	struct loop_call c = { .fn = note, .arg = "c" };
	struct loop_call end = { .fn = note, .arg = "." };

	(void)state;
	loop_later(loop, &a);
	loop_later(loop, &b);
	loop_later(loop, &a);
	loop_later(loop, &c);
	loop_cancel(loop, &c);
	loop_cancel(loop, &b);
	loop_cancel(loop, &b);
	loop_later(loop, &end);
	loop_run(loop);
	assert_string_equal(seen, "a.");
}

/* A call that a timer asks for comes before the loop waits again. */
static void
ask(void *arg)
{
	loop_later(loop, arg);
}

static void
test_a_call_asked_for_by_a_timer(void **state)
{
	struct loop_call end = { .fn = note, .arg = "." };
	struct timer timer = { .fn = ask, .arg = &end };

	(void)state;
	loop_timer_set(loop, &timer, 1);
	loop_run(loop);
	assert_string_equal(seen, ".");
}

static struct loop_watch *watches[2];
static int ends[2];

/* Whichever comes first takes the other one away. */
static void
on_readable(void *arg, int events)
{
	struct loop_watch **mine = arg;

	assert_int_equal(events & LOOP_READ, LOOP_READ);
	strcat(seen, "r");
	for (int i = 0; i < 2; i++) {
		loop_unwatch(watches[i]);
		watches[i] = NULL;
		close(ends[i]);
	}
	assert_null(*mine);
	loop_stop(loop);
}

static void
test_a_watch_taken_away_gets_no_event(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		int pair[2];

		assert_int_equal(pipe(pair), 0);
		assert_int_equal(write(pair[1], "x", 1), 1);
		close(pair[1]);
		ends[i] = pair[0];
		watches[i] = loop_watch(
		    loop, pair[0], LOOP_READ, on_readable, &watches[i]);
	}
	loop_run(loop);
	assert_string_equal(seen, "r");
}

static void
on_signal(void *arg, int signal)
{
	assert_int_equal(signal, SIGUSR1);
	note(arg);
}

static void
test_signals(void **state)
{
	(void)state;
	loop_signal(loop, SIGUSR1, on_signal, ".");
	raise(SIGUSR1);
	loop_run(loop);
	assert_string_equal(seen, ".");
}

static void
on_other_signal(void *arg, int signal)
{
	assert_int_equal(signal, SIGUSR2);
	note(arg);
}

static void
test_each_signal_has_its_own_call(void **state)
{
	struct timer end = { 0 };

	(void)state;
	loop_signal(loop, SIGUSR1, on_signal, "1");
	loop_signal(loop, SIGUSR2, on_other_signal, "2");
	raise(SIGUSR1);
	set_timer(&end, ".", 20);
	loop_run(loop);
	raise(SIGUSR2);
	set_timer(&end, ".", 20);
	loop_run(loop);
	assert_string_equal(seen, "1.2.");
}

/* A callback that takes 15 ms by the clock. */
static void
take_long(void *arg)
{
	struct mono begun = mono_now();

	while (mono_diff_ms(mono_now(), begun) < 15)
		;
	loop_later(loop, arg);
}

static void
test_a_long_pass_is_the_longest(void **state)
{
	struct loop_call nothing = { .fn = note, .arg = "x" };
	struct timer timer = { .fn = take_long, .arg = &nothing };
	struct timer last = { 0 };
	struct loop_lag lag;

	(void)state;
	assert_int_equal(loop_lag(loop).passes, 0);
	loop_timer_set(loop, &timer, 1);
	set_timer(&last, ".", 50);
	loop_run(loop);
	lag = loop_lag(loop);
	assert_true(lag.over_10_ms >= 1);
	assert_true(lag.longest_ms >= 14);
	assert_string_equal(seen, "x.");
}

static void
end_of_loop(void *arg)
{
	struct loop_end *end = arg;

	loop_not_at_end(end);
	strcat(seen, "e");
}

static void
test_the_end_of_a_loop_calls(void **state)
{
	struct loop_end one = { .fn = end_of_loop, .arg = &one };
	struct loop_end two = { .fn = end_of_loop, .arg = &two };
	struct loop *other = loop_new();

	(void)state;
	loop_at_end(other, &one);
	loop_at_end(other, &two);
	loop_not_at_end(&two);
	loop_free(other);
	assert_string_equal(seen, "e");
}

/* Calls that fail ---------------------------------------------------------- */

static void
on_end(void *arg, int events)
{
	(void)events;
	strcat(seen, arg);
	loop_stop(loop);
}

/* A pipe with a byte in it; the end to read from. */
static int
full_pipe(int pair[2])
{
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	return pair[0];
}

static void
pipe_close(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

static void
test_a_watch_that_the_kernel_refuses_comes_later(void **state)
{
	struct loop_watch *watch;
	int pair[2];

	(void)state;
	bad_ctl.count = 3;
	bad_ctl.code = ENOMEM;
	watch = loop_watch(loop, full_pipe(pair), LOOP_READ, on_end, "r");
	loop_run(loop);
	assert_string_equal(seen, "r");
	assert_int_equal(bad_ctl.count, 0);
	loop_unwatch(watch);
	pipe_close(pair);
}

static void
test_a_change_that_the_kernel_refuses_comes_later(void **state)
{
	struct loop_watch *watch;
	int pair[2];

	(void)state;
	watch = loop_watch(loop, full_pipe(pair), 0, on_end, "r");
	bad_ctl.count = 1;
	bad_ctl.code = ENOSPC;
	loop_watch_set(watch, LOOP_WRITE);
	loop_watch_set(watch, LOOP_READ);
	loop_run(loop);
	assert_string_equal(seen, "r");
	assert_int_equal(bad_ctl.count, 0);
	loop_unwatch(watch);
	pipe_close(pair);
}

static void
test_a_watch_is_taken_away_before_the_kernel_had_it(void **state)
{
	struct loop_watch *first, *second;
	struct timer end = { 0 };
	int one[2], two[2];

	(void)state;
	bad_ctl.count = 2;
	bad_ctl.code = ENOMEM;
	first = loop_watch(loop, full_pipe(one), LOOP_READ, on_end, "1");
	second = loop_watch(loop, full_pipe(two), LOOP_READ, on_end, "2");
	assert_int_equal(bad_ctl.count, 0);
	loop_unwatch(first);
	loop_run(loop);
	assert_string_equal(seen, "2");
	loop_unwatch(second);
	set_timer(&end, ".", 1);
	loop_run(loop);
	assert_string_equal(seen, "2.");
	pipe_close(one);
	pipe_close(two);
}

static void
test_a_wait_that_fails_is_made_again(void **state)
{
	struct loop_watch *watch;
	int pair[2];

	(void)state;
	bad_wait.count = 2;
	bad_wait.code = ENOMEM;
	watch = loop_watch(loop, full_pipe(pair), LOOP_READ, on_end, "r");
	loop_run(loop);
	assert_string_equal(seen, "r");
	assert_int_equal(bad_wait.count, 0);
	loop_unwatch(watch);
	pipe_close(pair);
}

/* A program that can never wait again would only burn the processor. */
static void
test_a_wait_that_always_fails_ends_the_program(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(9);
		bad_wait.count = 1000;
		bad_wait.code = EBADF;
		loop_run(loop);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void
test_a_look_up_without_a_descriptor_fails(void **state)
{
	struct error err = { 0 };

	(void)state;
	bad_event.count = 1;
	bad_event.code = EMFILE;
	assert_null(lookup_start(loop, "localhost", note, "x", &err));
	assert_string_equal(err.message,
	    "cannot create an event descriptor: Too many open files");
	error_release(&err);
}

static void
test_a_look_up_that_the_kernel_does_not_watch_yet(void **state)
{
	struct error err = { 0 };
	struct lookup *lookup;

	(void)state;
	bad_ctl.count = 2;
	bad_ctl.code = ENOMEM;
	lookup = lookup_start(loop, "127.0.0.1", note, ".", &err);
	assert_non_null(lookup);
	loop_run(loop);
	assert_string_equal(seen, ".");
	lookup_free(lookup);
}

static int
set_up(void **state)
{
	(void)state;
	bad_ctl.count = bad_wait.count = bad_event.count = 0;
	loop = loop_new();
	seen[0] = '\0';
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	loop_free(loop);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_timers_come_in_their_order),
	TEST(test_many_timers),
	TEST(test_calls_come_once_and_can_be_withdrawn),
	TEST(test_a_call_asked_for_by_a_timer),
	TEST(test_a_watch_taken_away_gets_no_event),
	TEST(test_signals),
	TEST(test_each_signal_has_its_own_call),
	TEST(test_a_long_pass_is_the_longest),
	TEST(test_the_end_of_a_loop_calls),
	TEST(test_a_watch_that_the_kernel_refuses_comes_later),
	TEST(test_a_change_that_the_kernel_refuses_comes_later),
	TEST(test_a_watch_is_taken_away_before_the_kernel_had_it),
	TEST(test_a_wait_that_fails_is_made_again),
	TEST(test_a_wait_that_always_fails_ends_the_program),
	TEST(test_a_look_up_without_a_descriptor_fails),
	TEST(test_a_look_up_that_the_kernel_does_not_watch_yet),
};

UNIT_TESTS(tests)
