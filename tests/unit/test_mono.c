#include "common/mono.h"

#include "tests/unit/unit.h"

static void
test_differences_round_away_from_zero(void **state)
{
	struct mono a = { .ns = 1000000 };
	struct mono b = { .ns = 2000001 };

	(void)state;
	assert_int_equal(mono_diff_ms(b, a), 2);
	assert_int_equal(mono_diff_ms(a, b), -2);
	assert_int_equal(mono_diff_ms(a, a), 0);
}

static void
test_add_and_order(void **state)
{
	struct mono now = mono_now();
	struct mono later = mono_add_ms(now, 1500);

	(void)state;
	assert_int_equal(mono_diff_ms(later, now), 1500);
	assert_true(mono_before(now, later));
	assert_false(mono_before(later, now));
	assert_false(mono_before(now, now));
	assert_int_equal(mono_diff_ms(mono_add_ms(now, -2), now), -2);
}

static void
test_the_clock_does_not_go_back(void **state)
{
	struct mono first = mono_now();
	struct mono second = mono_now();

	(void)state;
	assert_false(mono_before(second, first));
}

static void
test_what_is_too_far_away_is_the_end_of_time(void **state)
{
	struct mono now = mono_now();
	struct mono last = mono_add_ms(now, INT64_MAX);
	struct mono first = mono_add_ms((struct mono){ .ns = -1 }, INT64_MIN);

	(void)state;
	assert_true(last.ns == INT64_MAX);
	assert_true(first.ns == INT64_MIN);
	assert_true(mono_add_ms(last, 1).ns == INT64_MAX);
	assert_true(mono_add_ms(last, INT64_MAX / 1000000).ns == INT64_MAX);
	assert_true(mono_before(now, last));
	assert_true(mono_diff_ms(last, first) == INT64_MAX / 1000000 + 1);
	assert_true(mono_diff_ms(first, last) == INT64_MIN / 1000000 - 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_differences_round_away_from_zero),
	cmocka_unit_test(test_add_and_order),
	cmocka_unit_test(test_the_clock_does_not_go_back),
	cmocka_unit_test(test_what_is_too_far_away_is_the_end_of_time),
};

UNIT_TESTS(tests)
