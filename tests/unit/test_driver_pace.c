/* When the next turn is due. */
#include "driver/pace.h"

#include "driver/config/config.h"
#include "driver/poll_window.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

enum {
	MIN_MS = 1000,
	MAX_MS = 8000,
};

static const struct config config = {
	.poll_min_ms = MIN_MS,
	.poll_max_ms = MAX_MS,
};
static const struct load nothing, one = { .slots = 1 }, all = { .slots = 8 };
static struct loop *loop;
static struct pace pace;
static int hurries; /* how often something became due */

static void
changed(void *arg)
{
	(void)arg;
	hurries++;
}

/* After how many milliseconds the next poll comes, if one ended like this. */
static int64_t
next_ms(const struct load *taken, int64_t rest_ms, bool busy)
{
	pace_begin(&pace);
	pace_end(&pace, taken, &(struct load){ .slots = 8 },
	    &(struct rest){ .ms = rest_ms, .busy = busy });
	assert_true(pace.poll_timer.place > 0);
	return mono_diff_ms(pace.poll_timer.due, mono_now());
}

#define ASSERT_ABOUT(ms, least, most) \
	assert_in_range(ms, (least)-MIN_MS / 4, most)

static void
test_pauses_double_while_nothing_is_found(void **state)
{
	int64_t ms;

	(void)state;
	for (ms = 2 * MIN_MS; ms <= MAX_MS; ms *= 2)
		ASSERT_ABOUT(next_ms(&nothing, 60000, false), ms, ms);
	ASSERT_ABOUT(next_ms(&nothing, 60000, false), MAX_MS, MAX_MS);
	ASSERT_ABOUT(next_ms(&one, 60000, false), MIN_MS, MIN_MS);
}

static void
test_no_later_than_it_is_told(void **state)
{
	(void)state;
	assert_true(next_ms(&nothing, 10, false) <= 10);
	assert_true(next_ms(&one, 0, false) <= 0);
}

static void
test_full_slots_wait_a_moment(void **state)
{
	(void)state;
	ASSERT_ABOUT(next_ms(&all, 0, false), MIN_MS, MIN_MS);
}

static void
test_room_is_due_soon(void **state)
{
	(void)state;
	pace_room(&pace, false);
	assert_int_equal(pace.room_timer.place, 0);
	pace_room(&pace, true);
	ASSERT_ABOUT(
	    mono_diff_ms(pace.room_timer.due, mono_now()), MIN_MS, MIN_MS);
	assert_false(pace.due);
	pace.room_timer.fn(pace.room_timer.arg);
	assert_true(pace.due);
	pace_begin(&pace);
	assert_false(pace.due);
	assert_int_equal(pace.room_timer.place, 0);
}

/* Otherwise those who find others at work would ask them again and again. */
static void
test_about_when_it_is_told_if_others_work(void **state)
{
	int64_t ms = MAX_MS / 2;
	int i;

	(void)state;
	next_ms(&one, 0, false);
	for (i = 0; i < 20; i++)
		ASSERT_ABOUT(
		    next_ms(&nothing, ms, true), ms - ms / 4, ms + ms / 4 + 1);
	ASSERT_ABOUT(next_ms(&nothing, 1000 * MAX_MS, true),
	    MAX_MS - MAX_MS / 4, MAX_MS + MAX_MS / 4 + 1);
	/* it has nothing to say about how long it is idle */
	ASSERT_ABOUT(next_ms(&nothing, 60000, false), 2 * MIN_MS, 2 * MIN_MS);
}

static void
test_a_failure_in_a_pause_does_not_put_its_end_off(void **state)
{
	struct mono end;
	int i;

	(void)state;
	pace_fail(&pace);
	end = pace.pause_timer.due;
	for (i = 0; i < 20; i++)
		pace_fail(&pace);
	assert_true(pace.paused);
	assert_memory_equal(&end, &pace.pause_timer.due, sizeof(end));
}

/* Time passes until one more ring may be followed. */
static void
let_ring(void)
{
	assert_true(pace.ring_timer.place > 0);
	loop_timer_stop(loop, &pace.ring_timer);
	pace.ring_timer.fn(pace.ring_timer.arg);
}

static void
test_a_flood_of_rings_causes_few_polls(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 2000; i++)
		pace_ring(&pace);
	assert_int_equal(hurries, PACE_RINGS);
	let_ring();
	assert_int_equal(hurries, PACE_RINGS + 1);
	for (i = 0; i < PACE_RINGS; i++) {
		pace_ring(&pace);
		pace_ring(&pace);
		let_ring();
	}
	assert_int_equal(hurries, 2 * PACE_RINGS + 1);
}

static void
test_the_last_ring_is_followed(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < PACE_RINGS + 1; i++)
		pace_ring(&pace);
	let_ring();
	assert_int_equal(hurries, PACE_RINGS + 1);
	for (i = 0; i < PACE_RINGS; i++)
		let_ring();
	assert_int_equal(hurries, PACE_RINGS + 1);
	assert_int_equal(pace.ring_timer.place, 0);
	pace_ring(&pace);
	assert_int_equal(hurries, PACE_RINGS + 2);
}

static int
set_up(void **state)
{
	(void)state;
	loop = loop_new();
	hurries = 0;
	pace_init(&pace, loop, &config, changed, NULL);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	pace_release(&pace);
	loop_free(loop);
	return 0;
}

#define PACE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	PACE_TEST(test_pauses_double_while_nothing_is_found),
	PACE_TEST(test_no_later_than_it_is_told),
	PACE_TEST(test_full_slots_wait_a_moment),
	PACE_TEST(test_room_is_due_soon),
	PACE_TEST(test_about_when_it_is_told_if_others_work),
	PACE_TEST(test_a_failure_in_a_pause_does_not_put_its_end_off),
	PACE_TEST(test_a_flood_of_rings_causes_few_polls),
	PACE_TEST(test_the_last_ring_is_followed),
};

UNIT_TESTS(tests)
