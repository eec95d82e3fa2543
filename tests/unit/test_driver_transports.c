/*
 * test_driver_transports.c - a configuration that is read again: all transports
 * take it, or none of them does.
 *
 * The transports of this test stand in for the real ones, so the file with the
 * table of transports is a part of it.
 */
#define transport_builtin first
#define transport_exec second
#define transport_http third
#define transport_sql without_reload
#define transport_ssh last
/* NOLINTNEXTLINE(bugprone-suspicious-include): see above */
#include "driver/transport/transports.c"

#include "tests/unit/unit.h"

/* What a transport of the test was asked for. */
struct seen {
	int prepared, committed, discarded;
	bool fails;
};

static struct seen seen[ALL];

static bool
open_any(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	static size_t next;

	(void)loop;
	(void)config;
	(void)err;
	*state = &seen[next++ % ALL];
	return true;
}

static void
close_any(void *state)
{
	(void)state;
}

static bool
prepare(
    void *state, const struct config *fresh, void **prepared, struct error *err)
{
	struct seen *one = state;

	(void)fresh;
	if (one->fails) {
		error_set(err, "this one does not take it");
		return false;
	}
	one->prepared++;
	*prepared = one;
	return true;
}

static void
commit(void *state, void *prepared)
{
	struct seen *one = state;

	/* the last one prepares nothing */
	if (state != &seen[ALL - 1])
		assert_ptr_equal(prepared, state);
	else
		assert_null(prepared);
	one->committed++;
}

static void
discard_one(void *prepared)
{
	struct seen *one = prepared;

	one->discarded++;
}

#define OPEN .open = open_any, .close = close_any
#define RELOAD .prepare = prepare, .commit = commit, .discard = discard_one

const struct transport first = { .name = "builtin", OPEN, RELOAD };
const struct transport second = { .name = "exec", OPEN, RELOAD };
const struct transport third = { .name = "http", OPEN, RELOAD };
const struct transport without_reload = { .name = "sql", OPEN };
const struct transport last = { .name = "ssh", OPEN, .commit = commit };

static void
test_all_take_it(void **state)
{
	struct transports *transports = *state;
	struct error err = { 0 };
	struct config fresh;
	size_t i;

	config_preset(&fresh);
	assert_true(transports_reload(transports, &fresh, &err));
	for (i = 0; i < ALL; i++) {
		assert_int_equal(seen[i].prepared, i < 3);
		assert_int_equal(seen[i].committed, i != 3);
		assert_int_equal(seen[i].discarded, 0);
	}
	config_release(&fresh);
}

static void
test_a_later_one_fails_and_none_takes_it(void **state)
{
	struct transports *transports = *state;
	struct error err = { 0 };
	struct config fresh;
	size_t i;

	config_preset(&fresh);
	seen[2].fails = true;
	assert_false(transports_reload(transports, &fresh, &err));
	assert_string_equal(err.message, "this one does not take it");
	for (i = 0; i < ALL; i++) {
		assert_int_equal(seen[i].prepared, i < 2);
		assert_int_equal(seen[i].discarded, i < 2);
		assert_int_equal(seen[i].committed, 0);
	}
	error_release(&err);
	config_release(&fresh);
}

static int
set_up(void **state)
{
	static struct config config;
	struct error err = { 0 };

	memset(seen, 0, sizeof(seen));
	config_preset(&config);
	*state = transports_open(NULL, &config, &err);
	config_release(&config);
	return *state == NULL;
}

static int
tear_down(void **state)
{
	transports_close(*state);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_all_take_it),
	TEST(test_a_later_one_fails_and_none_takes_it),
};

UNIT_TESTS(tests)
