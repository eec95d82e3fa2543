#include "console/text.h"

#include <locale.h>

#include "common/buf.h"
#include "common/suggestion.h"

#include "tests/unit/unit.h"

static void
check_safe(const char *text, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 0);
	text_add_safe(&buf, text, "");
	assert_string_equal(buf.data, expected);
	buf_release(&buf);
}

static void
test_nothing_reaches_the_terminal(void **state)
{
	(void)state;
	check_safe("plain", "plain");
	check_safe("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	check_safe("\033]52;c;eA==\a", "\\x1b]52;c;eA==\\x07");
	check_safe("a\r\n\tb", "a\\r\\n\\tb");
	check_safe("\xc2\x9b\x31m", "\\x9b1m");      /* CSI in one character */
	check_safe("\xe2\x80\xaetxt", "\\u202etxt"); /* turns the line around */
	check_safe("\xff\xc3", "\\xff\\xc3");
}

static void
test_what_may_stay(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	text_add_safe(&buf, "a\nb\tc", "\n");
	assert_string_equal(buf.data, "a\nb\\tc");
	buf_release(&buf);
}

static void
check_wrapped(
    const char *text, size_t indent, size_t width, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 0);
	text_add_wrapped(&buf, text, indent, width);
	assert_string_equal(buf.data, expected);
	buf_release(&buf);
}

static void
test_wrapping(void **state)
{
	(void)state;
	check_wrapped("", 2, 12, "");
	check_wrapped("ten columns", 0, 20, "ten columns");
	check_wrapped("ten column", 0, 10, "ten column");
	check_wrapped("ten columns", 0, 10, "ten\ncolumns");
	check_wrapped("one two three four", 2, 11, "one two\n  three\n  four");
	check_wrapped("one  two", 0, 8, "one  two");
	check_wrapped("eight888  two", 0, 8, "eight888\ntwo");
	/* a word is broken only where it is longer than a line */
	check_wrapped("see http://127.0.0.1:8000/a b", 0, 10,
	    "see\nhttp://127\n.0.0.1:800\n0/a b");
	/* a terminal without room still shows all of it */
	check_wrapped("abcdefghij", 6, 4, "abcdefgh\n      ij");
	/* two columns each, in a locale that knows them */
	if (setlocale(LC_CTYPE, "C.UTF-8") != NULL)
		check_wrapped("\xe5\x8c\x97\xe5\x8c\x97\xe5\x8c\x97"
		              "\xe5\x8c\x97\xe5\x8c\x97",
		    0, 9,
		    "\xe5\x8c\x97\xe5\x8c\x97\xe5\x8c\x97\xe5\x8c\x97\n"
		    "\xe5\x8c\x97");
}

static void
test_json_stays_json(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	text_add_safe_json(&buf, "\"\xe2\x80\xae\xc2\x9b\x7f\"", "");
	assert_string_equal(buf.data, "\"\\u202e\\u009b\\u007f\"");
	buf_truncate(&buf, 0);
	text_add_safe_json(&buf, "\xf3\xa0\x80\x81", "");
	assert_string_equal(buf.data, "\\udb40\\udc01");
	buf_truncate(&buf, 0);
	text_add_safe_json(&buf, "[1,\r\n\t2]", "\n");
	assert_string_equal(buf.data, "[1, \n 2]");
	buf_release(&buf);
}

static void
check_fitted(const char *text, size_t width, bool right, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 0);
	text_add_fitted(&buf, text, width, right, "~");
	assert_string_equal(buf.data, expected);
	buf_release(&buf);
}

static void
test_fitting(void **state)
{
	(void)state;
	check_fitted("abc", 5, false, "abc  ");
	check_fitted("abc", 5, true, "  abc");
	check_fitted("abcdef", 4, false, "abc~");
	check_fitted("abc", 3, false, "abc");
	check_fitted("abc", 1, false, "~");
}

static void
test_wide_characters(void **state)
{
	const char *text = "\xe6\xbc\xa2\xe5\xad\x97"; /* two of two columns */

	(void)state;
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		skip();
	assert_int_equal(text_width(text), 4);
	check_fitted(text, 3, false, "\xe6\xbc\xa2~");
	check_fitted(text, 4, false, text);
	setlocale(LC_CTYPE, "C");
	assert_int_equal(text_width(text), 2);
}

static const char *
nearest(const char *wanted)
{
	static const char *const names[] = { "history", "install", "list",
		"retry", "tree" };
	struct suggestion suggestion;
	size_t i;

	suggestion_init(&suggestion, wanted);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		suggestion_offer(&suggestion, names[i], strlen(names[i]));
	return suggestion.best;
}

static void
test_did_you_mean(void **state)
{
	(void)state;
	assert_string_equal(nearest("lsit"), "list");
	assert_string_equal(nearest("retyr"), "retry");
	assert_string_equal(nearest("inst"), "install");
	assert_null(nearest("frobnicate"));
	assert_null(nearest(""));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nothing_reaches_the_terminal),
	cmocka_unit_test(test_what_may_stay),
	cmocka_unit_test(test_wrapping),
	cmocka_unit_test(test_json_stays_json),
	cmocka_unit_test(test_fitting),
	cmocka_unit_test(test_wide_characters),
	cmocka_unit_test(test_did_you_mean),
};

UNIT_TESTS(tests)
