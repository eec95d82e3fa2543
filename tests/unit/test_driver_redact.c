/* What must not be seen is replaced, however it is written. */
#include "driver/redact.h"

#include <stdio.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "tests/unit/unit.h"

static int
forget(void **state)
{
	(void)state;
	redact_clear();
	return 0;
}

static void
add(const char *value)
{
	redact_add(value, strlen(value));
}

static void
check(void (*redact)(struct buf *text), const char *from, const char *expected)
{
	struct buf text;

	buf_init(&text, 0);
	buf_adds(&text, from);
	redact(&text);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

/* And what comes out is still JSON. */
static void
check_json(const char *from, const char *expected)
{
	struct json *value;
	struct error err = { 0 };

	check(redact_json, from, expected);
	assert_true(json_parse(expected, strlen(expected), &value, &err));
	json_free(value);
}

static void
test_nothing_is_known(void **state)
{
	(void)state;
	check(redact_text, "anything", "anything");
	check_json("{\"a\":1}", "{\"a\":1}");
	assert_int_equal(redact_waiting("text", 4), 0);
}

static void
test_text(void **state)
{
	(void)state;
	add("hunter22");
	add("hunter2222");
	check(redact_text, "a hunter22, hunter2222hunter22 hunter2",
	    "a ***, ****** hunter2");
}

static void
test_ways_of_writing(void **state)
{
	(void)state;
	add("s3cr \"t\\/\xc3\xa9?");
	check(redact_text, "s3cr \"t\\/\xc3\xa9?", "***");
	check(redact_text, "s3cr%20%22t%5C%2F%C3%A9%3F", "***");
	check(redact_text, "s3cr%20%22t%5c%2f%c3%a9%3f", "***");
	check(redact_text, "s3cr+%22t%5C%2F%C3%A9%3F", "***");
	check(redact_text, "x s3cr \\\"t\\\\/\xc3\xa9? x", "x *** x");
	check(redact_text, "czNjciAidFwvw6k/", "***");
	check(redact_text, "czNjciAidFwvw6k_", "***");
	/* "a" and "ab" in front of it; what it shares a digit with stays */
	check(redact_text, "YXMzY3IgInRcL8OpPw==", "YX***w==");
	check(redact_text, "YWJzM2NyICJ0XC/DqT8=", "YWJ***8=");
}

static void
test_json_stays_json(void **state)
{
	(void)state;
	add("nopq");
	add("12345");
	add("a\"b\\c");
	check_json("{\"x\":\"nopq\",\"nopq\":[true,\"x nopqnopq\"]}",
	    "{\"x\":\"***\",\"***\":[true,\"x ******\"]}");
	/* not within an escape */
	check_json("[\"\\nopq\",\"\\\\nopq\"]", "[\"\\nopq\",\"\\\\***\"]");
	check_json("[12345,-1.23450,123,\"12345\",0]",
	    "[\"***\",-1.23450,123,\"***\",0]");
	check_json("[7123456]", "[\"***\"]");
	check_json(
	    "[\"a\\\"b\\\\c\",\"{\\\"k\\\":\\\"a\\\\\\\"b\\\\\\\\c\\\"}\"]",
	    "[\"***\",\"{\\\"k\\\":\\\"***\\\"}\"]");
}

static void
test_lines(void **state)
{
	(void)state;
	add("-----BEGIN-----\nabcdefgh\nxyz\n12345678");
	check(redact_text, "log: abcdefgh\r\nlog: 12345678\r\nxyz",
	    "log: ***\r\nlog: ***\r\nxyz");
}

static void
test_edges(void **state)
{
	(void)state;
	add("abcdefgh");
	check(redact_head, "efgh and more", "*** and more");
	check(redact_head, "fgh and more", "fgh and more");
	check(redact_head, "xefgh", "xefgh");
	assert_int_equal(redact_waiting("xxabcdefg", 9), 7);
	assert_int_equal(redact_waiting("xxa", 3), 1);
	assert_int_equal(redact_waiting("xabcdefgh!", 10), 0);
	assert_int_equal(redact_waiting("a", 1), 1);
	/* whole, though it could also be the beginning of another */
	add("xyz-x");
	assert_int_equal(redact_waiting("a xyz-x", 7), 0);
}

static void
test_the_last_used_are_remembered(void **state)
{
	char name[16];
	int i;

	(void)state;
	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "value-%03d", i);
		add(name);
		add("always");
	}
	check(redact_text, "always value-299 value-001", "*** *** value-001");
}

static void
test_log_line(void **state)
{
	char *line = strdup("with hunter22");

	(void)state;
	line = redact_line(line);
	assert_string_equal(line, "with hunter22");
	add("hunter22");
	line = redact_line(line);
	assert_string_equal(line, "with ***");
	free(line);
}

#define TEST(name) cmocka_unit_test_teardown(test_##name, forget)

static const struct CMUnitTest tests[] = {
	TEST(nothing_is_known),
	TEST(text),
	TEST(ways_of_writing),
	TEST(json_stays_json),
	TEST(lines),
	TEST(edges),
	TEST(the_last_used_are_remembered),
	TEST(log_line),
};

UNIT_TESTS(tests)
