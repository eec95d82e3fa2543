/* Output as it comes: no secret leaves in pieces. */
#include "driver/transport/output.h"

#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "tests/unit/unit.h"

static int
forget(void **state)
{
	(void)state;
	known_clear();
	return 0;
}

static void
on_fresh(void *arg)
{
	(void)arg;
}

/* Take what there is; "" for nothing. */
static void
check_take(struct output *output, bool all, const char *expected)
{
	struct output_piece piece;

	if (!output_take(output, PIPE_OUT, all, &piece)) {
		assert_string_equal("", expected);
		return;
	}
	assert_string_equal(piece.text.data, expected);
	buf_release(&piece.text);
}

static void
add(struct output *output, const char *text)
{
	output_add(output, PIPE_OUT, text, strlen(text));
}

/* Its end could be the beginning of the next one. */
static void
test_a_secret_that_ends_as_it_begins(void **state)
{
	struct output output;

	(void)state;
	known_hold("sesame-s", 8);
	output_init(&output, on_fresh, NULL);
	add(&output, "token: sesame-s");
	check_take(&output, false, "token: ***");
	add(&output, ", s");
	check_take(&output, false, ", ");
	add(&output, "esame-");
	check_take(&output, false, "");
	add(&output, "s!");
	check_take(&output, false, "***!");
	check_take(&output, true, "");
	output_release(&output);
}

static void
test_a_secret_that_another_one_goes_on(void **state)
{
	struct output output;

	(void)state;
	known_hold("abcdef", 6);
	known_hold("efghij", 6);
	known_hold("abcdefgh", 8);
	output_init(&output, on_fresh, NULL);
	add(&output, "x abcdef");
	check_take(&output, false, "x ");
	add(&output, "g");
	check_take(&output, false, "");
	add(&output, "?");
	check_take(&output, false, "***g?");
	add(&output, "abcdef");
	check_take(&output, true, "***");
	output_release(&output);
}

static void
test_half_a_character_waits(void **state)
{
	struct output output;

	(void)state;
	output_init(&output, on_fresh, NULL);
	add(&output, "caf\xc3");
	check_take(&output, false, "caf");
	add(&output, "\xa9\xf0\x9f");
	check_take(&output, false, "\xc3\xa9");
	check_take(&output, true, "\xef\xbf\xbd\xef\xbf\xbd");
	output_release(&output);
}

#define TEST(name) cmocka_unit_test_teardown(test_##name, forget)

static const struct CMUnitTest tests[] = {
	TEST(a_secret_that_ends_as_it_begins),
	TEST(a_secret_that_another_one_goes_on),
	TEST(half_a_character_waits),
};

UNIT_TESTS(tests)
