#include "common/utf8.h"

#include "tests/unit/unit.h"

#define VALID(text) assert_true(utf8_valid(text, sizeof(text) - 1))
#define INVALID(text) assert_false(utf8_valid(text, sizeof(text) - 1))

static void
test_characters_of_each_length(void **state)
{
	(void)state;
	VALID("");
	VALID("plain");
	VALID("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x98");
	VALID("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
	VALID("a\0b");
}

static void
test_what_is_no_character(void **state)
{
	(void)state;
	INVALID("\x80");             /* begins in the middle */
	INVALID("\xc3");             /* cut off */
	INVALID("\xe2\x82");         /* cut off */
	INVALID("\xc0\x80");         /* overlong NUL */
	INVALID("\xe0\x80\xaf");     /* overlong slash */
	INVALID("\xf0\x80\x80\xaf"); /* overlong slash */
	INVALID("\xed\xa0\x80");     /* surrogate */
	INVALID("\xf4\x90\x80\x80"); /* beyond the last */
	INVALID("\xff");
	INVALID("\xe2\x28\xa1");
	INVALID("\xe2\x82\x28");
}

static void
test_sequence(void **state)
{
	(void)state;
	assert_int_equal(utf8_sequence("a", 1), 1);
	assert_int_equal(utf8_sequence("\xf0\x9f\x90\x98x", 5), 4);
	assert_int_equal(utf8_sequence("\xf0\x9f\x90\x98x", 3), 0);
	assert_int_equal(utf8_sequence("a", 0), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_characters_of_each_length),
	cmocka_unit_test(test_what_is_no_character),
	cmocka_unit_test(test_sequence),
};

UNIT_TESTS(tests)
