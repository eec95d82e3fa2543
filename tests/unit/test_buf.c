#include "common/buf.h"

#include "common/mem.h"
#include "tests/unit/unit.h"

static void
test_empty_is_a_string(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	assert_string_equal(buf.data, "");
	assert_int_equal(buf.len, 0);
	buf_release(&buf);
}

static void
test_grows(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	for (int i = 0; i < 1000; i++)
		assert_true(buf_addf(&buf, "%03d,", i));
	assert_int_equal(buf.len, 4000);
	assert_memory_equal(buf.data + 3996, "999,", 5);
	buf_release(&buf);
	assert_string_equal(buf.data, "");
}

static void
test_limit_refuses_whole_pieces(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 5);
	assert_true(buf_adds(&buf, "abc"));
	assert_false(buf_adds(&buf, "def"));
	assert_string_equal(buf.data, "abc");
	assert_true(buf_adds(&buf, "de"));
	assert_false(buf_addc(&buf, 'f'));
	assert_true(buf_add(&buf, "", 0));
	buf_release(&buf);
}

static void
test_fit_gives_back_what_is_not_needed(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	buf_fit(&buf);
	assert_string_equal(buf.data, "");
	buf_adds(&buf, "abc");
	buf_fit(&buf);
	assert_int_equal(buf.size, 4);
	assert_string_equal(buf.data, "abc");
	assert_true(buf_adds(&buf, "def"));
	assert_string_equal(buf.data, "abcdef");
	buf_release(&buf);
}

static void
test_take_leaves_an_empty_buffer(void **state)
{
	struct buf buf;
	char *text;

	(void)state;
	buf_init(&buf, 3);
	buf_adds(&buf, "abc");
	text = buf_take(&buf);
	assert_string_equal(text, "abc");
	free(text);
	assert_int_equal(buf.len, 0);
	assert_int_equal(buf.limit, 3);
	text = buf_take(&buf);
	assert_string_equal(text, "");
	free(text);
}

static void
test_truncate(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	buf_truncate(&buf, 0);
	buf_adds(&buf, "abc");
	buf_truncate(&buf, 5);
	assert_string_equal(buf.data, "abc");
	buf_truncate(&buf, 1);
	assert_string_equal(buf.data, "a");
	buf_release(&buf);
}

static void
test_holds_nul_bytes(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
	buf_release(&buf);
}

/* What is left in memory of one, test_driver_leftover.c looks at. */
static void
test_a_secret_one_is_like_any(void **state)
{
	struct buf buf;
	char *text;
	int i;

	(void)state;
	buf_init_secret(&buf, 1000);
	for (i = 0; i < 500; i++)
		buf_adds(&buf, "ab");
	assert_false(buf_addc(&buf, 'c'));
	assert_int_equal(buf.len, 1000);
	buf_truncate(&buf, 3);
	buf_fit(&buf);
	buf_addc(&buf, 'c');
	text = buf_take(&buf);
	assert_string_equal(text, "abac");
	free_wiped(text);
	assert_true(buf.secret);
	assert_string_equal(buf.data, "");
	buf_release(&buf);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_empty_is_a_string),
	cmocka_unit_test(test_grows),
	cmocka_unit_test(test_limit_refuses_whole_pieces),
	cmocka_unit_test(test_fit_gives_back_what_is_not_needed),
	cmocka_unit_test(test_take_leaves_an_empty_buffer),
	cmocka_unit_test(test_truncate),
	cmocka_unit_test(test_holds_nul_bytes),
	cmocka_unit_test(test_a_secret_one_is_like_any),
};

UNIT_TESTS(tests)
