#include "common/error.h"

#include <errno.h>

#include "tests/unit/unit.h"

static void
test_set_replaces_all(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, "cannot open %s", "x");
	error_hint(&err, "Try %s.", "y");
	error_detail(&err, "detail");
	error_sqlstate(&err, "WF001");
	error_set(&err, "second: %s", err.message);
	assert_string_equal(err.message, "second: cannot open x");
	assert_null(err.hint);
	assert_null(err.detail);
	assert_string_equal(err.sqlstate, "");
	error_release(&err);
	assert_null(err.message);
}

static void
test_prefix_keeps_the_rest(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, "no rights");
	error_hint(&err, "Ask.");
	error_sqlstate(&err, "WF008");
	error_prefix(&err, "cannot install %d", 1);
	assert_string_equal(err.message, "cannot install 1: no rights");
	assert_string_equal(err.hint, "Ask.");
	assert_string_equal(err.sqlstate, "WF008");
	error_release(&err);
}

static void
test_errno_is_added(void **state)
{
	struct error err = { 0 };

	(void)state;
	errno = ENOENT;
	error_set_errno(&err, "cannot open \"%s\"", "x");
	assert_string_equal(
	    err.message, "cannot open \"x\": No such file or directory");
	error_release(&err);
}

static void
test_sqlstate_has_five_characters(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_sqlstate(&err, "WF0011");
	assert_string_equal(err.sqlstate, "WF001");
	error_release(&err);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_set_replaces_all),
	cmocka_unit_test(test_prefix_keeps_the_rest),
	cmocka_unit_test(test_errno_is_added),
	cmocka_unit_test(test_sqlstate_has_five_characters),
};

UNIT_TESTS(tests)
