/* What a driver counts, and how it is written down. */
#include "driver/metrics.h"

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "driver/secret/redact.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

/* What is written, as JSON. */
static struct json *
written(struct metrics *metrics)
{
	struct json *json = NULL;
	struct error err = { 0 };
	struct buf buf;

	buf_init(&buf, 0);
	metrics_write(metrics, &buf);
	assert_true(json_parse(buf.data, buf.len, &json, &err));
	buf_release(&buf);
	return json;
}

static void
check(const struct json *json, const char *name, int64_t expected)
{
	if (!json_has(json, name))
		fail_msg("there is no counter %s", name);
	assert_int_equal(json_int(json_get(json, name)), expected);
}

static int changes;

static void
on_changed(void *arg)
{
	changes++;
	if (arg != NULL)
		loop_stop(arg);
}

static void
test_nothing_has_happened_yet(void **state)
{
	struct metrics metrics;
	struct loop *loop = loop_new();
	struct json *json;

	(void)state;
	metrics_init(&metrics, loop, on_changed, NULL);
	json = written(&metrics);
	check(json, "connections.made", 0);
	check(json, "turns.poll", 0);
	check(json, "loop.passes", 0);
	check(json, "redactions", (int64_t)redact_count());
	assert_null(json_get(json, "http.responses"));
	json_free(json);
	metrics_release(&metrics);
	loop_free(loop);
}

static void
test_events_and_requests(void **state)
{
	struct metrics metrics;
	struct loop *loop = loop_new();
	struct json *json;

	(void)state;
	metrics_init(&metrics, loop, on_changed, NULL);
	metrics_add(&metrics, METRIC_POLLS);
	metrics_add(&metrics, METRIC_POLLS);
	metrics_add(&metrics, METRIC_CONNECTIONS_LOST);
	metrics_end(&metrics, &transport_http, METRICS_RESPONSE, 0);
	metrics_end(&metrics, &transport_http, METRICS_ERROR, 10);
	metrics_end(&metrics, &transport_http, METRICS_RESPONSE, 11);
	metrics_end(&metrics, &transport_http, METRICS_ERROR, 100001);
	metrics_end(&metrics, &transport_http, METRICS_RELEASED, -1);
	metrics_end(&metrics, &transport_sql, METRICS_RECORDED, 5);
	metrics_end(&metrics, NULL, METRICS_ERROR, -1);
	json = written(&metrics);
	check(json, "turns.poll", 2);
	check(json, "connections.lost", 1);
	check(json, "connections.made", 0);
	check(json, "http.responses", 2);
	check(json, "http.errors", 2);
	check(json, "http.released", 1);
	check(json, "http.recorded", 0);
	check(json, "http.total_ms", 100022);
	check(json, "http.within_1_ms", 1);
	check(json, "http.within_10_ms", 2);
	check(json, "http.within_100_ms", 3);
	check(json, "http.within_100000_ms", 3);
	check(json, "sql.recorded", 1);
	check(json, "sql.within_1_ms", 0);
	check(json, "sql.within_10_ms", 1);
	json_free(json);
	metrics_release(&metrics);
	loop_free(loop);
}

static void
test_they_are_due_until_they_are_written(void **state)
{
	struct metrics metrics;
	struct loop *loop = loop_new();

	(void)state;
	changes = 0;
	metrics_init(&metrics, loop, on_changed, loop);
	assert_false(metrics.due);
	metrics_hurry(&metrics);
	assert_true(metrics.due);
	assert_int_equal(changes, 1);
	json_free(written(&metrics));
	assert_false(metrics.due);
	/* as if ten seconds were over */
	metrics_add(&metrics, METRIC_DOORBELLS);
	loop_timer_set(loop, &metrics.timer, 0);
	loop_run(loop);
	assert_true(metrics.due);
	assert_int_equal(changes, 2);
	metrics_release(&metrics);
	loop_free(loop);
}

static void
stop(void *arg)
{
	loop_stop(arg);
}

static void
test_polls_alone_are_not_written(void **state)
{
	struct loop *loop = loop_new();
	struct timer later = { .fn = stop, .arg = loop };
	struct metrics metrics;

	(void)state;
	changes = 0;
	metrics_init(&metrics, loop, on_changed, NULL);
	metrics_add(&metrics, METRIC_POLLS);
	/* as if ten seconds were over */
	loop_timer_set(loop, &metrics.timer, 0);
	loop_timer_set(loop, &later, 1);
	loop_run(loop);
	assert_false(metrics.due);
	assert_int_equal(changes, 0);
	metrics_release(&metrics);
	loop_free(loop);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nothing_has_happened_yet),
	cmocka_unit_test(test_events_and_requests),
	cmocka_unit_test(test_they_are_due_until_they_are_written),
	cmocka_unit_test(test_polls_alone_are_not_written),
};

UNIT_TESTS(tests)
