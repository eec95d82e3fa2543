#include "common/json.h"

#include "common/buf.h"
#include "common/error.h"
#include "tests/unit/unit.h"

static struct json *
parse(const char *text)
{
	struct json *value = NULL;
	struct error err = { 0 };

	if (!json_parse(text, strlen(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

static void
test_types(void **state)
{
	static const struct {
		const char *text;
		enum json_type type;
	} cases[] = {
		{ "null", JSON_NULL },
		{ "true", JSON_BOOL },
		{ "-9223372036854775808", JSON_INT },
		{ "7", JSON_INT },
		{ "1.5", JSON_NUMBER },
		{ "1e3", JSON_NUMBER },
		{ "9223372036854775807", JSON_INT },
		{ "9223372036854775808", JSON_NUMBER },
		{ "-9223372036854775809", JSON_NUMBER },
		{ "\"x\"", JSON_STRING },
		{ " [1] ", JSON_LIST },
		{ "{}\n", JSON_OBJECT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json *value = parse(cases[i].text);

		assert_int_equal(json_type(value), cases[i].type);
		json_free(value);
	}
}

static void
test_reading(void **state)
{
	struct json *doc = parse(
	    "{\"a\": [1, \"two\", true], \"b\": null, \"c\": {\"d\": 4.5}}");
	struct json *list = json_get(doc, "a");

	(void)state;
	assert_int_equal(json_length(doc), 3);
	assert_int_equal(json_length(list), 3);
	assert_int_equal(json_int(json_at(list, 0)), 1);
	assert_string_equal(json_string(json_at(list, 1)), "two");
	assert_int_equal(json_string_length(json_at(list, 1)), 3);
	assert_true(json_bool(json_at(list, 2)));
	assert_null(json_at(list, 3));
	assert_true(json_has(doc, "b"));
	assert_null(json_get(doc, "b"));
	assert_false(json_has(doc, "x"));
	assert_string_equal(json_key_at(doc, 2), "c");
	assert_int_equal(json_int(json_get(json_value_at(doc, 2), "d")), 4);
	assert_null(json_key_at(doc, 3));
	json_free(doc);
}

static void
test_null_answers_everything(void **state)
{
	(void)state;
	assert_int_equal(json_type(NULL), JSON_NULL);
	assert_null(json_get(NULL, "a"));
	assert_false(json_has(NULL, "a"));
	assert_int_equal(json_length(NULL), 0);
	assert_null(json_at(NULL, 0));
	assert_null(json_key_at(NULL, 0));
	assert_null(json_string(NULL));
	assert_int_equal(json_int(NULL), 0);
	assert_false(json_bool(NULL));
	json_free(NULL);
}

static void
test_text_is_compact(void **state)
{
	struct json *doc = parse(" { \"a\" : [ 1 , 2.50, \"x/y\" ] } ");
	char *text = json_text(doc);

	(void)state;
	assert_string_equal(text, "{\"a\":[1,2.50,\"x/y\"]}");
	free(text);
	json_free(doc);
}

static void
test_numbers_stay_as_they_are(void **state)
{
	static const char text[] =
	    "{\"a\":[18446744073709551616,-9223372036854775809],"
	    "\"b\":9223372036854775807,\"c\":1e400,\"d\":12345678901234567890,"
	    "\"e\":\"18446744073709551616\"}";
	struct json *doc = parse(text);
	char *written = json_text(doc);

	(void)state;
	assert_string_equal(written, text);
	free(written);
	json_free(doc);
}

/* Added to a buffer it is the same text. */
static void
test_a_document_is_added(void **state)
{
	static const char text[] =
	    "{\"a\":[1,-2.50,true,null,{}],\"b\\n\":{\"c\":\"x/\\\"\","
	    "\"d\":[]},\"n\":12345678901234567890123}";
	struct error err = { 0 };
	struct json *doc;
	struct buf buf;

	(void)state;
	assert_true(json_parse_secret(text, strlen(text), &doc, &err));
	buf_init_secret(&buf, 0);
	assert_true(json_add(&buf, doc));
	assert_string_equal(buf.data, text);
	buf_release(&buf);
	buf_init(&buf, strlen(text) - 1);
	assert_false(json_add(&buf, doc));
	buf_release(&buf);
	json_free_secret(doc);
}

static void
test_what_is_not_json(void **state)
{
	static const char *const texts[] = { "", " ", "{", "[1,", "[1,]",
		"{\"a\":1,}", "{} {}", "1 2", "nul", "'x'", "\"\xff\"", "01",
		"tru", "[1] x", "\"a", "NaN", "-Infinity", "1.", "[8.e1]",
		"-01", "\"a\tb\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct json *value = NULL;
		struct error err = { 0 };

		if (json_parse(texts[i], strlen(texts[i]), &value, &err))
			fail_msg("accepted: %s", texts[i]);
		assert_non_null(err.message);
		error_release(&err);
	}
}

static void
test_nothing_hides_behind_a_nul(void **state)
{
	struct json *value = NULL;
	struct error err = { 0 };

	(void)state;
	assert_false(json_parse("1\0 2", 4, &value, &err));
	error_release(&err);
	assert_false(json_parse("{}\0", 3, &value, &err));
	error_release(&err);
}

static void
test_depth_is_bounded(void **state)
{
	char text[1200];
	struct json *value = NULL;
	struct error err = { 0 };

	(void)state;
	memset(text, '[', 600);
	memset(text + 600, ']', 600);
	assert_false(json_parse(text, sizeof(text), &value, &err));
	error_release(&err);
	assert_true(json_parse(text + 200, 800, &value, &err));
	json_free(value);
}

static void
test_strings_are_escaped(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	assert_true(json_add_string(&buf, "a\"\\\n\x01\x7f\0\xc3\xa4", 9));
	assert_string_equal(
	    buf.data, "\"a\\\"\\\\\\n\\u0001\\u007f\\u0000\xc3\xa4\"");
	buf_release(&buf);
}

static void
test_the_size_of_a_string_is_known(void **state)
{
	struct buf buf;
	char c;
	int i;

	(void)state;
	for (i = 0; i < 0x80; i++) {
		c = (char)i;
		buf_init(&buf, 0);
		assert_true(json_add_string(&buf, &c, 1));
		assert_int_equal(json_string_size(&c, 1) + 2, buf.len);
		buf_release(&buf);
	}
	assert_int_equal(json_string_size("\xc3\xa4\n", 3), 4);
}

static void
test_a_refused_string_leaves_nothing(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 4);
	buf_addc(&buf, '[');
	assert_false(json_add_string(&buf, "\xff", 1));
	assert_false(json_add_string(&buf, "ab", 2));
	assert_string_equal(buf.data, "[");
	assert_true(json_add_string(&buf, "a", 1));
	assert_string_equal(buf.data, "[\"a\"");
	buf_release(&buf);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_types),
	cmocka_unit_test(test_reading),
	cmocka_unit_test(test_null_answers_everything),
	cmocka_unit_test(test_text_is_compact),
	cmocka_unit_test(test_numbers_stay_as_they_are),
	cmocka_unit_test(test_a_document_is_added),
	cmocka_unit_test(test_what_is_not_json),
	cmocka_unit_test(test_nothing_hides_behind_a_nul),
	cmocka_unit_test(test_depth_is_bounded),
	cmocka_unit_test(test_strings_are_escaped),
	cmocka_unit_test(test_the_size_of_a_string_is_known),
	cmocka_unit_test(test_a_refused_string_leaves_nothing),
};

UNIT_TESTS(tests)
