#include "driver/transport/tail.h"

#include "tests/unit/unit.h"

static void
test_short_is_kept_whole(void **state)
{
	struct tail tail;

	(void)state;
	tail_init(&tail, 10);
	tail_add(&tail, "abc", 3);
	tail_add(&tail, "def", 3);
	tail_trim(&tail);
	assert_string_equal(tail.kept.data, "abcdef");
	assert_int_equal(tail.cut, 0);
	tail_release(&tail);
}

static void
test_end_is_kept_and_the_rest_counted(void **state)
{
	struct tail tail;

	(void)state;
	tail_init(&tail, 10);
	for (int i = 0; i < 1000; i++) {
		char digit = (char)('0' + i % 10);

		tail_add(&tail, &digit, 1);
		assert_true(tail.kept.len <= 20);
	}
	tail_trim(&tail);
	assert_string_equal(tail.kept.data, "0123456789");
	assert_int_equal(tail.cut, 990);
	tail_release(&tail);
}

static void
test_more_than_the_limit_at_once(void **state)
{
	struct tail tail;

	(void)state;
	tail_init(&tail, 4);
	tail_add(&tail, "ab", 2);
	tail_add(&tail, "0123456789", 10);
	assert_string_equal(tail.kept.data, "6789");
	assert_int_equal(tail.cut, 8);
	tail_release(&tail);
}

static void
test_skipped_is_not_cut(void **state)
{
	struct tail tail;

	(void)state;
	tail_init(&tail, 10);
	tail_add(&tail, "noise:text", 10);
	tail_skip(&tail, 6);
	assert_string_equal(tail.kept.data, "text");
	assert_int_equal(tail.cut, 0);
	tail_release(&tail);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_short_is_kept_whole),
	cmocka_unit_test(test_end_is_kept_and_the_rest_counted),
	cmocka_unit_test(test_more_than_the_limit_at_once),
	cmocka_unit_test(test_skipped_is_not_cut),
};

UNIT_TESTS(tests)
