/* What must not be seen is replaced, however it is written. */
#include "driver/secret/redact.h"

#include <stdio.h>
#include <time.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "driver/secret/known.h"
#include "tests/unit/unit.h"

static int
forget(void **state)
{
	(void)state;
	known_clear();
	return 0;
}

static void
add(const char *value)
{
	known_let_go(known_hold(value, strlen(value)));
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

/* Others, each used once: the `n`th of them is "other-000n". */
static void
add_others(int from, int end)
{
	char name[24];
	int i;

	for (i = from; i < end; i++) {
		snprintf(name, sizeof(name), "other-%04d", i);
		add(name);
	}
}

static void
test_a_value_that_is_held_is_never_forgotten(void **state)
{
	struct secret_value *held = known_hold("hunter22", 8);

	(void)state;
	assert_ptr_equal(known_hold("hunter22", 8), held);
	known_let_go(held);
	add_others(0, 3 * KNOWN_KEPT_VALUES);
	check(redact_text, "a hunter22!", "a ***!");
	known_let_go(held);
	add_others(0, KNOWN_KEPT_VALUES - 1);
	check(redact_text, "a hunter22!", "a ***!");
	add_others(KNOWN_KEPT_VALUES, KNOWN_KEPT_VALUES + 1);
	check(redact_text, "a hunter22!", "a hunter22!");
}

static void
test_the_last_used_are_kept(void **state)
{
	(void)state;
	add_others(0, KNOWN_KEPT_VALUES);
	add("other-0000"); /* used again */
	add("one more");
	check(redact_text, "other-0000 other-0001 other-0002 one more",
	    "*** other-0001 *** ***");
}

/* What is kept takes no more memory than it says, however long values are. */
static void
test_long_values_are_kept_as_far_as_they_have_room(void **state)
{
	static char value[65536];
	int i, shown = 0, count = KNOWN_KEPT_BYTES / (int)sizeof(value);
	struct buf text;

	(void)state;
	for (i = 0; i < count; i++) {
		memset(value, 'a' + i % 26, sizeof(value) - 1);
		value[0] = (char)('A' + i / 26);
		known_let_go(known_hold(value, sizeof(value) - 1));
	}
	for (i = 0; i < count; i++) {
		memset(value, 'a' + i % 26, sizeof(value) - 1);
		value[0] = (char)('A' + i / 26);
		buf_init(&text, 0);
		buf_add(&text, value, sizeof(value) - 1);
		redact_text(&text);
		shown += text.len > 3;
		buf_release(&text);
	}
	assert_in_range(shown, 1, 2);
}

/* Each escape that JSON has, for each character. */
static void
test_escapes_of_json(void **state)
{
	(void)state;
	add("a/b+c\xc3\xa9\xf0\x9f\x98\x80\"\\\n");
	check(redact_text, "a/b+c\xc3\xa9\xf0\x9f\x98\x80\"\\\n", "***");
	check(redact_text, "<a\\/b\\u002Bc\xc3\xa9\xf0\x9f\x98\x80\\\"\\\\\\n>",
	    "<***>");
	check(redact_text,
	    "<\\u0061\\u002f\\u0062\\u002b\\u0063\\u00E9\\uD83D\\ude00"
	    "\\u0022\\u005c\\u000A>",
	    "<***>");
	check(redact_text,
	    "<a\\\\/b+c\xc3\xa9\\\\ud83d\\\\uDE00\\\\\\\"\\\\\\\\\\\\n>",
	    "<***>");
	check(redact_text,
	    "<a\\\\\\\\/b+c\xc3\xa9\xf0\x9f\x98\x80\\\\\\\\\\\\\\\""
	    "\\\\\\\\\\\\\\\\\\\\\\\\n>",
	    "<***>");
	/* an invalid escape, and one half of a surrogate pair */
	check(redact_text, "a\\/b\\u002gc", "a\\/b\\u002gc");
	check(redact_text, "a\\/b\\u002Bc\\u00e9\\ud83dx",
	    "a\\/b\\u002Bc\\u00e9\\ud83dx");
}

static void
test_escapes_within_a_report(void **state)
{
	(void)state;
	add("a/b+c\xc3\xa9");
	check_json(
	    "{\"body\":\"{\\\"x\\\":\\\"a\\\\/b\\\\u002Bc\\\\u00e9\\\"}\"}",
	    "{\"body\":\"{\\\"x\\\":\\\"***\\\"}\"}");
	check_json("[\"\\u0061\\/b\\u002bc\\u00E9\\n\"]", "[\"***\\n\"]");
	/* a quote ends a string, whatever the secret is */
	add("\",\"y");
	check_json("[\"x\",\"y\",\"\\\",\\\"y\"]", "[\"x\",\"y\",\"***\"]");
}

/* In URLs any byte may be escaped, and any digit be large or small. */
static void
test_escapes_of_urls(void **state)
{
	(void)state;
	add("a b/c\xc3\xa9+d");
	check(redact_text, "?x=a%20b%2fc%C3%a9%2Bd&", "?x=***&");
	check(redact_text, "?x=a+b/c%c3%A9%2bd&", "?x=***&");
	check(redact_text, "?x=%61%20b\\/c%C3%A9+d&", "?x=***&");
	add("S3CR+/T?");
	/* in base 64, and that in a URL */
	check(redact_text, "UzNDUisvVD8= UzNDUisvVD8%3D", "***8= ***8%3D");
}

static void
test_the_same_text_of_two_values(void **state)
{
	struct secret_value *held;

	(void)state;
	held = known_hold("line-one\r\nline-two", 18);
	add("line-two\nline-six\nline-six");
	check(redact_text, "line-one line-two line-six", "*** *** ***");
	known_let_go(held);
	/* the other one is forgotten */
	add_others(0, KNOWN_KEPT_VALUES - 1);
	check(redact_text, "line-one line-two line-six", "*** *** line-six");
}

/* An escape that is cut off is waited for, or was begun before. */
static void
test_edges_within_escapes(void **state)
{
	static const char *const ways[] = {
		"\\u0061\\u002f\\u0062c\\u00e9fghi",
		"\\\\u0061\\\\\\/bc\\\\u00E9fghi",
		"a%2fbc%C3%A9fghi",
	};
	struct buf text;
	size_t i, at, len;

	(void)state;
	add("a/bc\xc3\xa9"
	    "fghi");
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		len = strlen(ways[i]);
		for (at = 1; at < len; at++) {
			assert_int_equal(redact_waiting(ways[i], at), at);
			buf_init(&text, 0);
			buf_add(&text, ways[i] + at, len - at);
			redact_head(&text);
			/* fewer than four characters may be anything */
			if (at <= len - strlen("fghi"))
				assert_null(strstr(text.data, "ghi"));
			buf_release(&text);
		}
		assert_int_equal(redact_waiting(ways[i], len), 0);
	}
}

/* What a text takes does not depend on how many secrets there are. */
static clock_t
time_of_a_text(void)
{
	clock_t begin, took, shortest = 0;
	struct buf text;
	int i;

	buf_init(&text, 0);
	while (text.len < 1 << 20)
		buf_adds(
		    &text, "{\"name\": \"something\", \"of\": [17, 42]}\n");
	for (i = 0; i < 5; i++) {
		begin = clock();
		redact_text(&text);
		took = clock() - begin;
		if (i == 0 || took < shortest)
			shortest = took;
	}
	buf_release(&text);
	return shortest;
}

static void
test_a_thousand_secrets_take_as_long_as_one(void **state)
{
	clock_t one;

	(void)state;
	add("hunter22");
	one = time_of_a_text();
	add_others(0, KNOWN_KEPT_VALUES - 1);
	assert_in_range(time_of_a_text(), 0, 20 * one);
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
	TEST(a_value_that_is_held_is_never_forgotten),
	TEST(the_last_used_are_kept),
	TEST(long_values_are_kept_as_far_as_they_have_room),
	TEST(escapes_of_json),
	TEST(escapes_within_a_report),
	TEST(escapes_of_urls),
	TEST(the_same_text_of_two_values),
	TEST(edges_within_escapes),
	TEST(a_thousand_secrets_take_as_long_as_one),
	TEST(log_line),
};

UNIT_TESTS(tests)
