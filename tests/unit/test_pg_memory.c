/*
 * test_pg_memory.c - sessions when there is no memory for some of what the
 * server says: the answer is the same, or the session breaks.
 */
#include <poll.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "tests/unit/starve.h"

static const struct pg_target target = { .program = "test_pg_memory" };

static bool
wait_for(const struct pg *pg, short events)
{
	struct pollfd fd = { .fd = pg_socket(pg), .events = events };

	return poll(&fd, 1, 10000) == 1;
}

static struct pg *
connect_async(void)
{
	struct error err = { 0 };
	struct pg *pg = pg_connect_start(&target, &err);
	enum pg_progress progress = PG_WANT_WRITE;

	while (pg != NULL && progress != PG_DONE && progress != PG_FAILED) {
		(void)wait_for(pg, progress == PG_WANT_READ ? POLLIN : POLLOUT);
		progress = pg_connect_poll(pg, &err);
	}
	error_release(&err);
	return pg;
}

/* The next event, waited for as the driver does it: bells first. */
static enum pg_event
next_event(struct pg *pg, struct pg_result **result)
{
	enum pg_event event;
	struct error err = { 0 };

	while ((event = pg_next(pg, result, &err)) == PG_EVENT_NONE) {
		if (!wait_for(pg, POLLIN))
			break;
		if (!pg_work(pg, &err)) {
			event = PG_EVENT_BROKEN;
			break;
		}
		free(pg_take_notify(pg));
	}
	error_release(&err);
	return event;
}

static bool
send_batch(struct pg *pg)
{
	struct error err = { 0 };
	bool sent = pg_send(pg, "notify bell", NULL, &err) &&
	            pg_send(pg, "select 'one' as a, 1 as b", NULL, &err) &&
	            pg_send(pg, "select repeat('x', 20000)", NULL, &err) &&
	            pg_sync(pg, &err);

	error_release(&err);
	return sent;
}

static bool
is_result(struct pg *pg, enum pg_event *event, const char *start)
{
	struct pg_result *result = NULL;
	bool same;

	*event = next_event(pg, &result);
	same = *event == PG_EVENT_RESULT &&
	       (start == NULL ||
	           strncmp(pg_value(result, 0, 0), start, strlen(start)) == 0);
	pg_result_free(result);
	return same;
}

/* All of it is answered, or the session breaks. */
static bool
is_answered(struct pg *pg, bool *broken)
{
	enum pg_event event = PG_EVENT_BROKEN;
	bool same = send_batch(pg) && is_result(pg, &event, NULL) &&
	            is_result(pg, &event, "one") &&
	            is_result(pg, &event, "xxxx") &&
	            !is_result(pg, &event, NULL) && event == PG_EVENT_SYNC;

	*broken = event == PG_EVENT_BROKEN;
	return same || *broken;
}

/* Who holds goes on to do so. */
static bool
is_answered_twice(void)
{
	struct pg *pg = connect_async();
	bool broken, first, holds;

	starve_begin();
	first = is_answered(pg, &broken);
	starve_end();
	holds = first && (broken || (is_answered(pg, &broken) && !broken));
	pg_free(pg);
	return holds;
}

static void
test_no_memory_for_an_answer(void **state)
{
	(void)state;
	starve_each(is_answered_twice);
}

enum {
	LONGEST_S = 10, /* a longer wait is endless, and is killed */
};

/* The answer is the row, or an error that says why there is none. */
static bool
asks(struct pg *pg)
{
	struct error err = { 0 };
	struct pg_result *result =
	    pg_query(pg, "select 'one' as a, repeat('x', 20000)", NULL, &err);
	bool same = result != NULL
	                ? strcmp(pg_column_name(result, 0), "a") == 0 &&
	                      strcmp(pg_value(result, 0, 0), "one") == 0
	                : err.message != NULL;

	pg_result_free(result);
	error_release(&err);
	return same;
}

/* A session that is waited for, from its beginning. */
static bool
is_waited_for(int64_t limit_ms)
{
	struct error err = { 0 };
	struct pg *pg;
	bool holds;

	alarm(LONGEST_S);
	starve_begin();
	pg = pg_connect(&target, &err);
	holds = pg != NULL || err.message != NULL;
	if (pg != NULL) {
		pg_limit(pg, limit_ms);
		holds = asks(pg) &&
		        (pg_script(pg, "select 1; select 2", &err) ||
		            err.message != NULL) &&
		        asks(pg);
	}
	starve_end();
	alarm(0);
	pg_free(pg);
	error_release(&err);
	return holds;
}

static bool
is_waited_for_without_limit(void)
{
	return is_waited_for(0);
}

static bool
is_waited_for_with_limit(void)
{
	return is_waited_for(60000);
}

static void
test_no_memory_while_waiting(void **state)
{
	(void)state;
	starve_each(is_waited_for_without_limit);
	starve_each(is_waited_for_with_limit);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_memory_for_an_answer),
	cmocka_unit_test(test_no_memory_while_waiting),
};

UNIT_TESTS(tests)
