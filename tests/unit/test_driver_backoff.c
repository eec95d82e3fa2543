/* Pauses after failures: longer each time, up to an end. */
#include "runtime/backoff.h"

#include <limits.h>

#include "tests/unit/unit.h"

/* A quarter more or less, by chance. */
static void
check(int failures, int64_t ms)
{
	int64_t pause;
	int i;

	for (i = 0; i < 100; i++) {
		pause = backoff_ms(failures);
		assert_in_range(pause, ms - ms / 4, ms + ms / 4);
	}
}

static void
test_pauses_double_up_to_ten_seconds(void **state)
{
	(void)state;
	check(1, 100);
	check(2, 200);
	check(7, 6400);
	check(8, 10000);
	check(INT_MAX, 10000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pauses_double_up_to_ten_seconds),
};

UNIT_TESTS(tests)
