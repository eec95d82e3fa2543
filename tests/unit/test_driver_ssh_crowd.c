/* Whether the commands that wait for a host would wait for long. */
#include "driver/transport/ssh/crowd.h"

#include "tests/unit/unit.h"

static const struct mono start = { 0 };

static bool
waits_long_at(struct crowd *crowd, int64_t waiting, int64_t ms)
{
	return crowd_waits_long(crowd, waiting, mono_add_ms(start, ms));
}

static void
end(struct crowd *crowd, int count)
{
	while (count-- > 0)
		crowd_ended(crowd);
}

static void
test_one_that_waits_while_none_ends(void **state)
{
	struct crowd crowd = { 0 };

	(void)state;
	assert_false(waits_long_at(&crowd, 1, 0));
	assert_false(waits_long_at(&crowd, 1, CROWD_LOOK_MS - 1));
	assert_true(waits_long_at(&crowd, 1, CROWD_LOOK_MS));
	assert_true(waits_long_at(&crowd, 1, CROWD_LONG_MS));
}

static void
test_short_commands_hold_nobody_up_for_long(void **state)
{
	struct crowd crowd = { 0 };

	(void)state;
	assert_false(waits_long_at(&crowd, 200, 0));
	end(&crowd, 20); /* 200 in a second */
	assert_false(waits_long_at(&crowd, 200, 100));
	assert_true(waits_long_at(&crowd, 201, 100));
	end(&crowd, 20);
	assert_false(waits_long_at(&crowd, 200, 200));
}

static void
test_only_the_last_second_counts(void **state)
{
	struct crowd crowd = { 0 };

	(void)state;
	assert_false(waits_long_at(&crowd, 1, 0));
	end(&crowd, 1000);
	assert_false(waits_long_at(&crowd, 100, 1000));
	assert_false(waits_long_at(&crowd, 100, 1001));
	assert_true(waits_long_at(&crowd, 100, 1101));
}

static void
test_it_begins_anew_when_all_had_their_turn(void **state)
{
	struct crowd crowd = { 0 };

	(void)state;
	assert_false(waits_long_at(&crowd, 1, 0));
	crowd_gone(&crowd);
	assert_false(waits_long_at(&crowd, 1, 500));
	assert_false(waits_long_at(&crowd, 1, 599));
	assert_true(waits_long_at(&crowd, 1, 600));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_one_that_waits_while_none_ends),
	cmocka_unit_test(test_short_commands_hold_nobody_up_for_long),
	cmocka_unit_test(test_only_the_last_second_counts),
	cmocka_unit_test(test_it_begins_anew_when_all_had_their_turn),
};

UNIT_TESTS(tests)
