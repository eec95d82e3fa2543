/* How slots are shared: invariants over what workspaces may ask for. */
#include "driver/share.h"

#include "driver/config/config.h"
#include "tests/unit/unit.h"

enum {
	COUNT = 3,
};

struct fixture {
	struct config config;
	struct shares shares;
	struct share all[COUNT];
	int told[COUNT];
};

static void
on_changed(void *arg)
{
	int *told = arg;

	(*told)++;
}

static void
begin(struct fixture *fixture, int64_t slots, size_t count)
{
	size_t i;

	*fixture = (struct fixture){ .config.slots = slots };
	fixture->shares.config = &fixture->config;
	for (i = 0; i < count; i++) {
		fixture->all[i].changed = on_changed;
		fixture->all[i].arg = &fixture->told[i];
		share_join(&fixture->all[i], &fixture->shares);
	}
}

static void
test_one_has_all(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 10, 1);
	assert_int_equal(share_want(&f.all[0], 1), 10);
	assert_int_equal(share_want(&f.all[0], 2), 5);
	share_set(&f.all[0], 10, true, false);
	assert_int_equal(share_want(&f.all[0], 1), 0);
	f.config.slots = 4;
	assert_int_equal(share_want(&f.all[0], 1), 0);
}

static void
test_half_is_kept_for_the_idle(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 8, 2);
	assert_int_equal(share_want(&f.all[0], 1), 6);
	share_set(&f.all[0], 6, true, false);
	assert_int_equal(share_want(&f.all[0], 1), 0);
	assert_int_equal(share_want(&f.all[1], 1), 2);
}

static void
test_equal_shares_for_the_hungry(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 8, 2);
	share_set(&f.all[0], 6, true, false);
	share_set(&f.all[1], 2, true, false);
	/* what the first gives back goes to the second, up to its half */
	share_set(&f.all[0], 5, true, false);
	assert_int_equal(f.told[1], 1);
	assert_int_equal(share_want(&f.all[0], 1), 0);
	assert_int_equal(share_want(&f.all[1], 1), 1);
	share_set(&f.all[0], 4, true, false);
	share_set(&f.all[1], 4, true, false);
	assert_int_equal(share_want(&f.all[0], 1), 0);
	assert_int_equal(share_want(&f.all[1], 1), 0);
	/* once it has enough, the first may have more again */
	share_set(&f.all[1], 1, false, false);
	assert_int_equal(f.told[0], 1);
	assert_int_equal(share_want(&f.all[0], 1), 2);
}

static void
test_nothing_is_kept_for_who_leaves(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 9, 3);
	share_set(&f.all[0], 5, true, false);
	share_set(&f.all[1], 1, true, true);
	share_set(&f.all[2], 0, false, true);
	assert_int_equal(share_want(&f.all[0], 1), 3);
	share_leave(&f.all[2]);
	share_leave(&f.all[1]);
	assert_int_equal(share_want(&f.all[0], 1), 4);
	assert_true(f.told[0] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_has_all),
		cmocka_unit_test(test_half_is_kept_for_the_idle),
		cmocka_unit_test(test_equal_shares_for_the_hungry),
		cmocka_unit_test(test_nothing_is_kept_for_who_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
