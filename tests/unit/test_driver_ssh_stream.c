/* What a host sends means the same in whatever pieces it comes. */
#include "driver/transport/ssh/stream.h"

#include "tests/unit/unit.h"

#define NONCE "0123456789abcdef0123456789abcdef"

/* In pieces of `size` bytes. */
static void
check(const char *text, size_t size, bool begun, int code, const char *expected)
{
	struct ssh_stream stream;
	size_t len;

	ssh_stream_init(&stream, 1000);
	for (; *text != '\0'; text += len) {
		len = strnlen(text, size);
		ssh_stream_add(&stream, NONCE, text, len, NULL, PIPE_OUT);
	}
	assert_int_equal(stream.begun, begun);
	assert_int_equal(stream.ended, code >= 0);
	if (code >= 0)
		assert_int_equal(stream.exit_code, code);
	assert_string_equal(stream.text.kept.data, expected);
	ssh_stream_release(&stream);
}

static void
test_pieces(void **state)
{
	static const size_t sizes[] = { 1, 7, 39, 1000 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check("hello\n" NONCE " begun\nout\n" NONCE " exit 7\nleft",
		    sizes[i], true, 7, "out\n");
		check("no route\n", sizes[i], false, -1, "no route\n");
		/* a record at the wrong time is just text */
		check(NONCE " exit 0\n" NONCE " begun\nx", sizes[i], true, -1,
		    "x");
		check(NONCE " begun\n" NONCE " begun\n" NONCE " exit 3\n",
		    sizes[i], true, 3, NONCE " begun\n");
		/* and so is one that no shell writes */
		check(NONCE " begun\n" NONCE " exit now\n", sizes[i], true, -1,
		    NONCE " exit now\n");
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pieces),
};

UNIT_TESTS(tests)
