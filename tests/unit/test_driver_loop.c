#include "driver/loop.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct loop *loop;
static char seen[64];

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

static int
set_up(void **state)
{
	(void)state;
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
};

UNIT_TESTS(tests)
