/*
 * test_pg.c - sessions with a real server, which tests/run starts and PGHOST
 * names.
 */
#include "common/pg.h"

#include <poll.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg_params.h"
#include "tests/unit/unit.h"

static const struct pg_target target = { .program = "test_pg" };

static struct pg *
open_waiting(void)
{
	struct error err = { 0 };
	struct pg *pg = pg_connect(&target, &err);

	if (pg == NULL)
		fail_msg("%s", err.message);
	return pg;
}

static void
wait_for(struct pg *pg, short events)
{
	struct pollfd fd = { .fd = pg_socket(pg), .events = events };

	assert_int_equal(poll(&fd, 1, 10000), 1);
}

static struct pg *
open_async(void)
{
	struct error err = { 0 };
	struct pg *pg = pg_connect_start(&target, &err);
	enum pg_progress progress = PG_WANT_WRITE;

	if (pg == NULL)
		fail_msg("%s", err.message);
	while (progress != PG_DONE) {
		wait_for(pg, progress == PG_WANT_READ ? POLLIN : POLLOUT);
		progress = pg_connect_poll(pg, &err);
		if (progress == PG_FAILED)
			fail_msg("%s", err.message);
	}
	return pg;
}

/* The next event, waited for. */
static enum pg_event
next_event(struct pg *pg, struct pg_result **result, struct error *err)
{
	enum pg_event event;

	while ((event = pg_next(pg, result, err)) == PG_EVENT_NONE) {
		wait_for(pg, pg_wants_write(pg) ? POLLIN | POLLOUT : POLLIN);
		if (!pg_work(pg, err))
			return PG_EVENT_BROKEN;
	}
	return event;
}

static void
send_query(struct pg *pg, const char *sql, const struct pg_params *params)
{
	struct error err = { 0 };

	if (!pg_send(pg, sql, params, &err))
		fail_msg("%s", err.message);
}

static void
sync_batch(struct pg *pg)
{
	struct error err = { 0 };

	if (!pg_sync(pg, &err))
		fail_msg("%s", err.message);
}

static void
expect(struct pg *pg, enum pg_event expected)
{
	struct pg_result *result = NULL;
	struct error err = { 0 };

	assert_int_equal(next_event(pg, &result, &err), expected);
	pg_result_free(result);
	error_release(&err);
}

static void
test_no_server(void **state)
{
	struct pg_target nowhere = { .host = "/nonexistent" };
	struct error err = { 0 };

	(void)state;
	assert_null(pg_connect(&nowhere, &err));
	assert_string_equal(err.sqlstate, "08001");
	assert_null(strchr(err.message, '\n'));
	assert_non_null(err.hint);
	error_release(&err);
}

/* The only value of `sql`, as text. */
static void
assert_answer(struct pg *pg, const char *sql, const char *expected)
{
	struct error err = { 0 };
	struct pg_result *r = pg_query(pg, sql, NULL, &err);

	if (r == NULL)
		fail_msg("%s", err.message);
	assert_string_equal(pg_value(r, 0, 0), expected);
	pg_result_free(r);
}

static void
assert_fails(struct pg *pg, const char *sql, const char *sqlstate)
{
	struct error err = { 0 };

	assert_null(pg_query(pg, sql, NULL, &err));
	assert_string_equal(err.sqlstate, sqlstate);
	error_release(&err);
}

#define STATEMENT_TIMEOUT "select current_setting('statement_timeout')"

static void
test_limit(void **state)
{
	struct pg *pg = open_waiting();
	struct error err = { 0 };
	struct pg_params params;
	struct pg_result *r;

	(void)state;
	pg_limit(pg, 200);
	assert_answer(pg, STATEMENT_TIMEOUT, "200ms");
	assert_fails(pg, "select pg_sleep(60)", "57014");
	assert_fails(pg, "select 1 / 0", "22012");
	pg_params_init(&params);
	pg_params_add(&params, "7");
	r = pg_query(pg, "select $1::int + 1", &params, &err);
	assert_non_null(r);
	assert_string_equal(pg_value(r, 0, 0), "8");
	pg_result_free(r);
	pg_params_release(&params);
	/* nothing of it stays in the session, which may be a pooler's */
	pg_limit(pg, 0);
	assert_answer(pg, STATEMENT_TIMEOUT, "0");
	/* a transaction keeps it, and one that has failed says so */
	pg_limit(pg, 60000);
	assert_true(pg_script(pg, "begin", &err));
	assert_answer(pg, STATEMENT_TIMEOUT, "1min");
	assert_fails(pg, "select 1 / 0", "22012");
	assert_fails(pg, "select 1", "25P02");
	assert_true(pg_script(pg, "rollback", &err));
	/* whoever set one has it */
	assert_true(pg_script(pg, "set statement_timeout = '5s'", &err));
	assert_answer(pg, STATEMENT_TIMEOUT, "5s");
	/* the server goes away in the middle */
	assert_fails(
	    pg, "select pg_terminate_backend(pg_backend_pid())", "57P01");
	assert_false(pg_is_alive(pg));
	assert_fails(pg, "select 1", "08006");
	pg_free(pg);
}

static void
test_values_and_kinds(void **state)
{
	struct pg *pg = open_waiting();
	struct pg_params params;
	struct error err = { 0 };
	struct pg_result *r;

	(void)state;
	pg_params_init(&params);
	pg_params_add(&params, "a b");
	pg_params_add(&params, NULL);
	pg_params_add_bigint(&params, INT64_MIN);
	pg_params_add_int(&params, -7);
	pg_params_add_bytes(&params, "\0\xff", 2);
	r = pg_query(pg,
	    "select $1::text t, $2::bool n, $3 i, $4 = -7 b, $5 = '\\x00ff' y,"
	    " '{}'::jsonb j, now() at",
	    &params, &err);
	assert_non_null(r);
	assert_int_equal(pg_rows(r), 1);
	assert_int_equal(pg_columns(r), 7);
	assert_int_equal(pg_column(r, "j"), 5);
	assert_int_equal(pg_column(r, "nothing"), -1);
	assert_string_equal(pg_value(r, 0, 0), "a b");
	assert_int_equal(pg_value_length(r, 0, 0), 3);
	assert_null(pg_value(r, 0, 1));
	assert_int_equal(pg_value_bigint(r, 0, 2), INT64_MIN);
	assert_true(pg_value_bool(r, 0, 3));
	assert_true(pg_value_bool(r, 0, 4));
	assert_int_equal(pg_column_kind(r, 0), PG_KIND_TEXT);
	assert_int_equal(pg_column_kind(r, 1), PG_KIND_BOOL);
	assert_int_equal(pg_column_kind(r, 2), PG_KIND_NUMBER);
	assert_int_equal(pg_column_kind(r, 5), PG_KIND_JSON);
	assert_int_equal(pg_column_kind(r, 6), PG_KIND_TIME);
	pg_result_free(r);
	pg_params_release(&params);
	pg_free(pg);
}

static void
test_errors_say_all(void **state)
{
	struct pg *pg = open_waiting();
	struct error err = { 0 };

	(void)state;
	assert_false(pg_script(pg,
	    "do $$ begin raise exception using errcode = 'WF001',"
	    " message = 'm', detail = 'd', hint = 'h'; end $$",
	    &err));
	assert_string_equal(err.sqlstate, "WF001");
	assert_string_equal(err.message, "m");
	assert_string_equal(err.detail, "d");
	assert_string_equal(err.hint, "h");
	error_release(&err);
	assert_true(pg_script(pg, "begin; select 1; select 2", &err));
	assert_int_equal(pg_transaction(pg), PG_IN_TRANSACTION);
	pg_free(pg);
}

static void
test_arrays(void **state)
{
	struct pg *pg = open_waiting();
	struct pg_array array;
	struct pg_params params;
	struct error err = { 0 };
	struct pg_result *r;

	(void)state;
	pg_params_init(&params);
	pg_array_init(&array, PG_TYPE_BIGINT);
	pg_array_add_bigint(&array, 1);
	pg_array_add_null(&array);
	pg_params_add_array(&params, &array);
	pg_array_release(&array);
	pg_array_init(&array, PG_TYPE_TEXT);
	pg_array_add_text(&array, "a,\"b");
	pg_params_add_array(&params, &array);
	pg_array_release(&array);
	pg_array_init(&array, PG_TYPE_BYTEA);
	pg_array_add_bytes(&array, "\0", 1);
	pg_array_add_bytes(&array, "", 0);
	pg_params_add_array(&params, &array);
	pg_array_release(&array);
	pg_array_init(&array, PG_TYPE_UUID);
	pg_array_add_uuid(&array, "01234567-89ab-cdef-fedc-ba9876543210");
	pg_params_add_array(&params, &array);
	pg_array_release(&array);
	r = pg_query(pg, "select $1, $2, $3, $4", &params, &err);
	assert_non_null(r);
	assert_string_equal(pg_value(r, 0, 0), "{1,NULL}");
	assert_string_equal(pg_value(r, 0, 1), "{\"a,\\\"b\"}");
	assert_string_equal(pg_value(r, 0, 2), "{\"\\\\x00\",\"\\\\x\"}");
	assert_string_equal(
	    pg_value(r, 0, 3), "{01234567-89ab-cdef-fedc-ba9876543210}");
	pg_result_free(r);
	pg_params_release(&params);
	pg_free(pg);
}

static void
test_batch(void **state)
{
	struct pg *pg = open_async();
	struct pg_result *result = NULL;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(pg_next(pg, &result, &err), PG_EVENT_NONE);
	send_query(pg, "select 1", NULL);
	send_query(pg, "select 2", NULL);
	sync_batch(pg);
	assert_int_equal(pg_outstanding(pg), 3);
	expect(pg, PG_EVENT_RESULT);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_RESULT);
	assert_string_equal(pg_value(result, 0, 0), "2");
	pg_result_free(result);
	expect(pg, PG_EVENT_SYNC);
	assert_int_equal(pg_outstanding(pg), 0);
	assert_int_equal(pg_next(pg, &result, &err), PG_EVENT_NONE);
	pg_free(pg);
}

static void
test_batch_with_an_error(void **state)
{
	struct pg *pg = open_async();
	struct pg_result *result = NULL;
	struct error err = { 0 };

	(void)state;
	send_query(pg, "create temporary table t ()", NULL);
	send_query(pg, "select 1 / 0", NULL);
	send_query(pg, "select 1", NULL);
	sync_batch(pg);
	send_query(pg, "select to_regclass('t') is null", NULL);
	sync_batch(pg);
	expect(pg, PG_EVENT_RESULT);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_ERROR);
	assert_string_equal(err.sqlstate, "22012");
	error_release(&err);
	expect(pg, PG_EVENT_SKIPPED);
	expect(pg, PG_EVENT_SYNC);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_RESULT);
	assert_true(pg_value_bool(result, 0, 0));
	pg_result_free(result);
	expect(pg, PG_EVENT_SYNC);
	pg_free(pg);
}

static void
test_large_both_ways(void **state)
{
	enum {
		SIZE = 8 * 1024 * 1024,
		TIMES = 3,
	};
	struct pg *pg = open_async();
	char *bytes = xmalloc(SIZE);
	struct pg_params params;

	(void)state;
	memset(bytes, 'x', SIZE);
	pg_params_init(&params);
	pg_params_add_bytes(&params, bytes, SIZE);
	for (int i = 0; i < TIMES; i++)
		send_query(pg, "select $1, length($1)", &params);
	sync_batch(pg);
	for (int i = 0; i < TIMES; i++)
		expect(pg, PG_EVENT_RESULT);
	expect(pg, PG_EVENT_SYNC);
	pg_params_release(&params);
	free(bytes);
	pg_free(pg);
}

/* The next event is a result without rows, of a query that had `rows`. */
static void
expect_dropped(struct pg *pg, int64_t rows)
{
	struct pg_result *result = NULL;
	struct error err = { 0 };

	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_RESULT);
	assert_int_equal(pg_rows(result), 0);
	assert_int_equal(pg_affected(result), rows);
	pg_result_free(result);
}

static void
test_rows_are_dropped(void **state)
{
	struct pg *pg = open_async();
	struct pg_result *result = NULL;
	struct error err = { 0 };

	(void)state;
	send_query(pg, "select i from generate_series(1, 100000) i", NULL);
	send_query(pg, "set local jit = off", NULL);
	send_query(pg, "select 1 / (6 - i) from generate_series(1, 9) i", NULL);
	send_query(pg, "select 3", NULL);
	sync_batch(pg);
	pg_drop_rows(pg, true);
	expect_dropped(pg, 100000);
	expect_dropped(pg, 0);
	expect(pg, PG_EVENT_ERROR);
	expect(pg, PG_EVENT_SKIPPED);
	expect(pg, PG_EVENT_SYNC);
	pg_drop_rows(pg, false);
	send_query(pg, "select 4", NULL);
	sync_batch(pg);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_RESULT);
	assert_string_equal(pg_value(result, 0, 0), "4");
	pg_result_free(result);
	expect(pg, PG_EVENT_SYNC);
	pg_free(pg);
}

static void
test_cancel(void **state)
{
	struct pg *pg = open_async();
	struct pg_cancel *cancel = pg_cancel_new(pg);
	struct pollfd fd = { .fd = pg_socket(pg), .events = POLLIN };
	struct pg_result *result = NULL;
	struct error err = { 0 };

	(void)state;
	send_query(pg, "select pg_sleep(60)", NULL);
	sync_batch(pg);
	/* A cancel that comes before the query has begun is lost. */
	do
		assert_true(pg_cancel_send(cancel, &err));
	while (poll(&fd, 1, 100) == 0);
	pg_cancel_free(cancel);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_ERROR);
	assert_string_equal(err.sqlstate, "57014");
	error_release(&err);
	expect(pg, PG_EVENT_SYNC);
	pg_free(pg);
}

static void
test_the_session_breaks(void **state)
{
	struct pg *pg = open_async();
	struct pg_result *result = NULL;
	struct error err = { 0 };
	enum pg_event event;

	(void)state;
	send_query(pg, "select pg_terminate_backend(pg_backend_pid())", NULL);
	sync_batch(pg);
	do {
		error_release(&err);
		event = next_event(pg, &result, &err);
	} while (event == PG_EVENT_ERROR);
	assert_int_equal(event, PG_EVENT_BROKEN);
	assert_false(pg_is_alive(pg));
	assert_non_null(err.message);
	error_release(&err);
	assert_int_equal(pg_next(pg, &result, &err), PG_EVENT_BROKEN);
	assert_string_equal(err.sqlstate, "08006");
	error_release(&err);
	pg_free(pg);
}

/* The row is refused by the commit, after the query has had its answer. */
static void
test_a_commit_that_fails(void **state)
{
	static const int64_t limits_ms[] = { 0, 60000 };
	struct pg *pg = open_waiting();
	struct error err = { 0 };
	size_t i;

	(void)state;
	assert_true(pg_script(pg,
	    "create temporary table one"
	    " (n int unique deferrable initially deferred)",
	    &err));
	for (i = 0; i < sizeof(limits_ms) / sizeof(limits_ms[0]); i++) {
		pg_limit(pg, limits_ms[i]);
		assert_null(pg_query(
		    pg, "insert into one values (1), (1)", NULL, &err));
		assert_string_equal(err.sqlstate, "23505");
		error_release(&err);
		assert_true(pg_is_alive(pg));
	}
	pg_free(pg);
}

static void
test_a_session_that_broke_stays_broken(void **state)
{
	static const char end[] =
	    "select pg_terminate_backend(pg_backend_pid())";
	static const int64_t limits_ms[] = { 0, 60000 };
	struct error err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(limits_ms) / sizeof(limits_ms[0]); i++) {
		struct pg *pg = open_waiting();

		pg_limit(pg, limits_ms[i]);
		assert_null(pg_query(pg, end, NULL, &err));
		assert_string_equal(err.sqlstate, "57P01");
		error_release(&err);
		assert_null(pg_query(pg, "select 1", NULL, &err));
		assert_string_equal(err.sqlstate, "08006");
		error_release(&err);
		assert_false(pg_script(pg, "select 1", &err));
		assert_string_equal(err.sqlstate, "08006");
		error_release(&err);
		pg_free(pg);
	}
}

static void
test_copy_is_refused(void **state)
{
	struct pg *pg = open_waiting();
	struct error err = { 0 };

	(void)state;
	assert_null(pg_query(pg, "copy (select 1) to stdout", NULL, &err));
	assert_string_equal(err.sqlstate, "0A000");
	error_release(&err);
	assert_null(pg_query(pg, "select 1", NULL, &err));
	assert_string_equal(err.sqlstate, "08006");
	error_release(&err);
	pg_free(pg);
}

static void
test_copy_ends_an_async_session(void **state)
{
	struct pg *pg = open_async();
	struct pg_result *result = NULL;
	struct error err = { 0 };

	(void)state;
	send_query(pg, "copy (select 1) to stdout", NULL);
	sync_batch(pg);
	assert_int_equal(next_event(pg, &result, &err), PG_EVENT_ERROR);
	assert_string_equal(err.sqlstate, "0A000");
	error_release(&err);
	assert_false(pg_is_alive(pg));
	expect(pg, PG_EVENT_BROKEN);
	pg_free(pg);
}

static void
test_notify(void **state)
{
	struct pg *pg = open_async();
	char *channel;

	(void)state;
	send_query(pg, "listen bell", NULL);
	sync_batch(pg);
	expect(pg, PG_EVENT_RESULT);
	expect(pg, PG_EVENT_SYNC);
	assert_null(pg_take_notify(pg));
	send_query(pg, "select pg_notify('bell', '')", NULL);
	sync_batch(pg);
	expect(pg, PG_EVENT_RESULT);
	expect(pg, PG_EVENT_SYNC);
	channel = pg_take_notify(pg);
	assert_string_equal(channel, "bell");
	free(channel);
	assert_null(pg_take_notify(pg));
	pg_free(pg);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_server),
	cmocka_unit_test(test_limit),
	cmocka_unit_test(test_values_and_kinds),
	cmocka_unit_test(test_errors_say_all),
	cmocka_unit_test(test_arrays),
	cmocka_unit_test(test_batch),
	cmocka_unit_test(test_batch_with_an_error),
	cmocka_unit_test(test_large_both_ways),
	cmocka_unit_test(test_rows_are_dropped),
	cmocka_unit_test(test_cancel),
	cmocka_unit_test(test_the_session_breaks),
	cmocka_unit_test(test_a_commit_that_fails),
	cmocka_unit_test(test_a_session_that_broke_stays_broken),
	cmocka_unit_test(test_copy_is_refused),
	cmocka_unit_test(test_copy_ends_an_async_session),
	cmocka_unit_test(test_notify),
};

UNIT_TESTS(tests)
