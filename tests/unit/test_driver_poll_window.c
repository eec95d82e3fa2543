/* How much a turn asks for of what is answered at once. */
#include "driver/poll_window.h"

#include "tests/unit/unit.h"

enum {
	SLOTS = 8,
	HUGE_ARGS = 2 << 20,
};

/* A turn that asks for all it may, and brings so much of what needs no slot. */
static void
bring(struct poll_window *window, int64_t instant, int64_t bytes)
{
	struct load want = poll_window_want(window, SLOTS, SLOTS, 0);

	poll_window_end(window,
	    &(struct load){ .instant = instant, .bytes = bytes }, &want);
}

static int64_t
wanted(const struct poll_window *window)
{
	return poll_window_want(window, SLOTS, SLOTS, 0).instant;
}

static void
bring_all(struct poll_window *window, int turns)
{
	while (turns-- > 0)
		bring(window, wanted(window), 0);
}

static void
test_doubles_up_to_four_times(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	assert_int_equal(wanted(&window), SLOTS);
	assert_false(window.full);
	bring_all(&window, 1);
	assert_int_equal(wanted(&window), 2 * SLOTS);
	assert_true(window.full);
	bring_all(&window, 1);
	assert_int_equal(wanted(&window), 4 * SLOTS);
	bring_all(&window, 10);
	assert_int_equal(wanted(&window), 4 * SLOTS);
	assert_true(window.full);
}

static void
test_less_makes_it_small(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	bring_all(&window, 2);
	bring(&window, 4 * SLOTS - 1, 0);
	assert_false(window.full);
	assert_int_equal(wanted(&window), 2 * SLOTS);
	bring(&window, 1, 0);
	assert_int_equal(wanted(&window), SLOTS);
	bring(&window, 1, 0);
	assert_int_equal(wanted(&window), SLOTS);
}

static void
test_nothing_changes_nothing(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	bring_all(&window, 2);
	bring(&window, 0, 0);
	assert_false(window.full);
	assert_int_equal(wanted(&window), 4 * SLOTS);
}

static void
test_large_ones_make_it_small(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	bring_all(&window, 2);
	bring(&window, 4 * SLOTS, HUGE_ARGS);
	/* there is more to be had all the same */
	assert_true(window.full);
	assert_int_equal(wanted(&window), SLOTS);
}

static void
test_slots_are_never_doubled(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	bring_all(&window, 2);
	assert_int_equal(poll_window_want(&window, 3, SLOTS, 0).slots, 3);
	assert_int_equal(poll_window_want(&window, 0, SLOTS, 0).slots, 0);
	assert_int_equal(
	    poll_window_want(&window, 0, SLOTS, 0).instant, 4 * SLOTS);
}

static void
test_turns_are_short_after_one_that_takes_time(void **state)
{
	struct poll_window window = { 0 };
	struct load want;
	int turns = 0;

	(void)state;
	bring_all(&window, 2);
	want = poll_window_want(&window, 1, SLOTS, 0);
	poll_window_end(&window,
	    &(struct load){ .slots = 1, .instant = want.instant }, &want);
	assert_true(window.full);
	assert_int_equal(wanted(&window), SLOTS / 2);
	while (wanted(&window) < SLOTS) {
		bring(&window, wanted(&window), 0);
		turns++;
	}
	assert_in_range(turns, 10, 1000);
}

static void
test_a_short_turn_asks_for_some(void **state)
{
	struct poll_window window = { .mixed = 1 };

	(void)state;
	assert_int_equal(poll_window_want(&window, 0, 1, 0).instant, 1);
}

static void
test_what_is_not_reported_leaves_less(void **state)
{
	struct poll_window window = { 0 };
	struct load want = poll_window_want(&window, 5, SLOTS, 3);

	(void)state;
	assert_int_equal(want.slots, 2);
	assert_int_equal(want.instant, SLOTS - 3);
	want = poll_window_want(&window, 5, SLOTS, 100);
	assert_int_equal(want.slots, 0);
	assert_int_equal(want.instant, 0);
}

static void
test_a_turn_that_asks_for_none_tells_nothing(void **state)
{
	struct poll_window window = { 0 };

	(void)state;
	bring_all(&window, 1);
	poll_window_end(
	    &window, &(struct load){ 0 }, &(struct load){ .slots = 1 });
	assert_false(window.full);
	assert_int_equal(wanted(&window), 2 * SLOTS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_doubles_up_to_four_times),
	cmocka_unit_test(test_less_makes_it_small),
	cmocka_unit_test(test_nothing_changes_nothing),
	cmocka_unit_test(test_large_ones_make_it_small),
	cmocka_unit_test(test_slots_are_never_doubled),
	cmocka_unit_test(test_turns_are_short_after_one_that_takes_time),
	cmocka_unit_test(test_a_short_turn_asks_for_some),
	cmocka_unit_test(test_what_is_not_reported_leaves_less),
	cmocka_unit_test(test_a_turn_that_asks_for_none_tells_nothing),
};

UNIT_TESTS(tests)
