/* The life of requests, with the builtin transport and without a workspace. */
#include "driver/runner.h"

#include <stdio.h>

#include "common/error.h"
#include "common/log.h"
#include "driver/config/config.h"
#include "driver/metrics.h"
#include "driver/transport/transport.h"
#include "driver/workspace.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

/* All that a runner needs around it. */
struct fixture {
	struct loop *loop;
	struct config config;
	struct transports *transports;
	struct metrics metrics;
	struct runner runner;
	int changes;
	struct loop_call stop;
};

static void
on_changed(void *arg)
{
	struct fixture *fixture = arg;

	fixture->changes++;
}

static void
stop(void *arg)
{
	loop_stop(arg);
}

static int
set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err = { 0 };

	fixture->loop = loop_new();
	config_preset(&fixture->config);
	assert_true(config_set(&fixture->config, "transports=builtin", &err));
	fixture->transports =
	    transports_open(fixture->loop, &fixture->config, &err);
	assert_non_null(fixture->transports);
	fixture->stop.fn = stop;
	fixture->stop.arg = fixture->loop;
	runner_init(&fixture->runner, fixture->transports, "",
	    &fixture->metrics, on_changed, fixture);
	*state = fixture;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	runner_release(&fixture->runner);
	transports_close(fixture->transports);
	config_release(&fixture->config);
	loop_free(fixture->loop);
	free(fixture);
	return 0;
}

/* One turn of the loop. */
static void
turn(struct fixture *fixture)
{
	loop_later(fixture->loop, &fixture->stop);
	loop_run(fixture->loop);
}

static const char *
token(int n)
{
	static char text[37];

	snprintf(text, sizeof(text), "%08x-0000-4000-8000-%012x", n * 7919, n);
	return text;
}

static void
take(struct fixture *fixture, int n, const char *args, bool needs_ack)
{
	struct workspace_row row = {
		.kind = WORKSPACE_RUN,
		.instance_id = n,
		.process_id = 2,
		.attempt = 1,
		.token = token(n),
		.trace_id = "",
		.request = "start",
		.needs_ack = needs_ack,
		.transport = "builtin",
		.type = "test.Task",
		.args = args,
		.args_len = strlen(args),
	};

	runner_take(&fixture->runner, &row);
}

#define NOOP "{\"op\": \"noop\"}"

/* The next report that is due, as a turn would carry it. */
static void
check_report(
    struct fixture *fixture, int n, const char *event, const char *body)
{
	struct request *request = fixture->runner.reports.first;

	assert_non_null(request);
	assert_string_equal(request->task.token, token(n));
	assert_string_equal(request->event, event);
	assert_string_equal(request->body.data, body);
}

static void
test_a_task_is_done_and_forgotten(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;

	take(fixture, 1, NOOP, false);
	assert_int_equal(runner->table.active, 1);
	assert_int_equal(runner->table.slots, 0);
	assert_int_equal(runner->reports.count, 0);
	turn(fixture);
	assert_int_equal(runner->table.active, 0);
	assert_int_equal(runner->table.count, 1);
	check_report(fixture, 1, "response", "");
	runner_answer(runner, token(1), "done");
	assert_int_equal(runner->table.count, 0);
	assert_int_equal(runner->reports.count, 0);
	assert_int_equal(fixture->changes, 1);
}

static void
test_wrong_arguments_are_an_outcome(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, "{\"op\": \"sing\"}", false);
	check_report(fixture, 1, "error",
	    "{\"kind\":\"input\",\"message\":"
	    "\"op must be env, fail, log or noop\"}");
}

static void
test_a_failure_is_an_outcome(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1,
	    "{\"op\": \"fail\", \"kind\": \"k\", \"message\": \"m\"}", false);
	turn(fixture);
	check_report(fixture, 1, "error", "{\"kind\":\"k\",\"message\":\"m\"}");
}

static void
test_only_the_first_attempts_fail(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, "{\"op\": \"fail\", \"attempts\": 1}", false);
	take(fixture, 2, "{\"op\": \"fail\", \"attempts\": 0}", false);
	turn(fixture);
	check_report(fixture, 1, "error",
	    "{\"kind\":\"failed\",\"message\":\"failed on purpose\"}");
	runner_answer(&fixture->runner, token(1), "done");
	check_report(fixture, 2, "response", "");
}

static void
test_env_shows_what_is_allowed(void **state)
{
	struct fixture *fixture = *state;
	struct error err = { 0 };

	setenv("SHOWN", "v\"", 1);
	assert_true(config_set(&fixture->config, "env=SHOWN,UNSET", &err));
	take(fixture, 1, "{\"op\": \"env\", \"name\": \"SHOWN\"}", false);
	take(fixture, 2, "{\"op\": \"env\", \"name\": \"UNSET\"}", false);
	turn(fixture);
	check_report(fixture, 1, "response", "{\"value\":\"v\\\"\"}");
	runner_answer(&fixture->runner, token(1), "done");
	check_report(fixture, 2, "response", "{\"value\":null}");
	runner_answer(&fixture->runner, token(2), "done");
	take(fixture, 3, "{\"op\": \"env\", \"name\": \"HOME\"}", false);
	check_report(fixture, 3, "error",
	    "{\"kind\":\"input\",\"message\":\"env: this driver does not show "
	    "HOME (Add it to env in the driver's configuration.)\"}");
}

static void
test_what_happens_is_counted(void **state)
{
	struct fixture *fixture = *state;
	const struct metrics_transport *builtin =
	    &fixture->metrics.transports[0];

	take(fixture, 1, NOOP, false);
	take(fixture, 2, "{\"op\": \"sing\"}", false);
	turn(fixture);
	take(fixture, 3, NOOP, true);
	runner_stop(&fixture->runner, token(3));
	runner_drain(&fixture->runner);
	take(fixture, 4, NOOP, false);
	assert_string_equal(builtin->name, "builtin");
	assert_int_equal(builtin->ends[METRICS_RESPONSE], 1);
	/* one that could not begin, one that was cancelled before it did */
	assert_int_equal(builtin->ends[METRICS_ERROR], 2);
	assert_int_equal(builtin->ends[METRICS_RELEASED], 1);
	assert_int_equal(builtin->within[METRICS_SPANS - 1], 2);
	assert_int_equal(fixture->metrics.counts[METRIC_REQUESTS_TAKEN], 4);
	assert_int_equal(fixture->metrics.counts[METRIC_REQUESTS_STOPPED], 1);
}

static void
test_acknowledged_before_it_begins(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	turn(fixture);
	check_report(fixture, 1, "ack", "");
	runner_answer(&fixture->runner, token(1), "done");
	turn(fixture);
	check_report(fixture, 1, "response", "");
}

static void
test_an_acknowledgement_that_was_repeated_begins_too(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	runner_answer(&fixture->runner, token(1), "already");
	turn(fixture);
	check_report(fixture, 1, "response", "");
}

static void
test_a_stale_acknowledgement_begins_nothing(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	runner_answer(&fixture->runner, token(1), "stale");
	turn(fixture);
	assert_int_equal(fixture->runner.table.count, 0);
}

#define CANCELLED \
	"{\"kind\":\"cancelled\",\"message\":\"cancelled before it began\"}"

static void
test_stopped_before_the_acknowledgement_left(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	runner_stop(&fixture->runner, token(1));
	runner_stop(&fixture->runner, token(1));
	runner_stop(&fixture->runner, token(2));
	check_report(fixture, 1, "error", CANCELLED);
	assert_int_equal(fixture->runner.reports.count, 1);
}

static void
test_stopped_while_the_acknowledgement_is_on_its_way(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;
	struct request_list carried;

	request_list_init(&carried);
	carried.on_its_way = true;
	take(fixture, 1, NOOP, true);
	request_list_add(&carried, request_list_take(&runner->reports));
	runner_stop(runner, token(1));
	assert_int_equal(runner->reports.count, 0);
	runner_answer(runner, token(1), "done");
	check_report(fixture, 1, "error", CANCELLED);
	assert_int_equal(carried.count, 0);
}

static void
test_a_report_that_the_workspace_is_too_busy_for_is_kept(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;
	struct request *request;

	take(fixture, 1, NOOP, false);
	turn(fixture);
	request = runner->reports.first;
	request->failures = 4;
	runner_answer(runner, token(1), "busy");
	runner_answer(runner, token(1), "busy");
	assert_int_equal(runner->reports.count, 0);
	assert_ptr_equal(runner->deferred.first, request);
	assert_int_equal(runner->deferred.count, 1);
	assert_int_equal(request->busy, 2);
	assert_int_equal(request->failures, 0);
	assert_string_equal(request->event, "response");
	runner_answer(runner, token(1), "done");
	assert_int_equal(runner->deferred.count, 0);
	assert_int_equal(runner->table.count, 0);
}

static void
test_lists_know_the_memory_of_what_stands_in_them(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;
	size_t empty, one;

	take(fixture, 1, NOOP, true);
	empty = runner->reports.bytes;
	assert_true(empty > strlen(NOOP));
	runner_stop(runner, token(1));
	one = runner->reports.bytes;
	assert_int_equal(one, empty + strlen(CANCELLED));
	runner_answer(runner, token(1), "busy");
	assert_int_equal(runner->reports.bytes, 0);
	assert_int_equal(runner->deferred.bytes, one);
	runner_answer(runner, token(1), "done");
	assert_int_equal(runner->deferred.bytes, 0);
}

static void
test_stopped_while_the_acknowledgement_is_kept(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;

	take(fixture, 1, NOOP, true);
	runner_answer(runner, token(1), "busy");
	assert_string_equal(runner->deferred.first->event, "ack");
	runner_stop(runner, token(1));
	assert_string_equal(runner->deferred.first->event, "error");
	assert_string_equal(runner->deferred.first->body.data, CANCELLED);
	assert_int_equal(runner->table.active, 0);
}

static void
test_stopped_before_the_workspace_was_too_busy(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;
	struct request_list carried;

	request_list_init(&carried);
	carried.on_its_way = true;
	take(fixture, 1, NOOP, true);
	request_list_add(&carried, request_list_take(&runner->reports));
	runner_stop(runner, token(1));
	runner_answer(runner, token(1), "busy");
	assert_int_equal(carried.count, 0);
	assert_string_equal(runner->deferred.first->event, "error");
}

static void
test_draining_hands_back_what_was_not_begun(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	runner_drain(&fixture->runner);
	check_report(fixture, 1, "release", "");
	runner_answer(&fixture->runner, token(1), "done");
	take(fixture, 2, NOOP, false);
	check_report(fixture, 2, "release", "");
}

static void
test_an_unknown_transport_is_an_outcome(void **state)
{
	struct fixture *fixture = *state;
	struct workspace_row row = {
		.token = token(1),
		.trace_id = "",
		.request = "start",
		.transport = "pigeon",
		.type = "t",
		.args = "{}",
		.args_len = 2,
	};

	runner_take(&fixture->runner, &row);
	check_report(fixture, 1, "error",
	    "{\"kind\":\"driver\",\"message\":"
	    "\"this driver has no transport pigeon\"}");
}

static void
test_a_token_is_taken_once(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, false);
	take(fixture, 1, NOOP, false);
	assert_int_equal(fixture->runner.table.count, 1);
}

static void
test_abandoned_is_not_reported(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 1, NOOP, true);
	take(fixture, 2, NOOP, false);
	runner_abandon(&fixture->runner);
	assert_int_equal(fixture->runner.table.count, 0);
	assert_int_equal(fixture->runner.reports.count, 0);
	turn(fixture);
}

static void
test_many(void **state)
{
	struct fixture *fixture = *state;
	struct runner *runner = &fixture->runner;

	for (int n = 0; n < 3000; n++)
		take(fixture, n, NOOP, n % 3 == 0);
	assert_int_equal(runner->table.active, 3000);
	turn(fixture);
	assert_int_equal(runner->reports.count, 3000);
	assert_int_equal(runner->table.active, 1000);
	for (int n = 0; n < 3000; n++)
		runner_answer(runner, token(n), "done");
	turn(fixture);
	for (int n = 0; n < 3000; n += 3)
		runner_answer(runner, token(n), "late");
	assert_int_equal(runner->table.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_task_is_done_and_forgotten),
		TEST(test_wrong_arguments_are_an_outcome),
		TEST(test_a_failure_is_an_outcome),
		TEST(test_only_the_first_attempts_fail),
		TEST(test_env_shows_what_is_allowed),
		TEST(test_what_happens_is_counted),
		TEST(test_acknowledged_before_it_begins),
		TEST(test_an_acknowledgement_that_was_repeated_begins_too),
		TEST(test_a_stale_acknowledgement_begins_nothing),
		TEST(test_stopped_before_the_acknowledgement_left),
		TEST(test_stopped_while_the_acknowledgement_is_on_its_way),
		TEST(test_lists_know_the_memory_of_what_stands_in_them),
		TEST(test_a_report_that_the_workspace_is_too_busy_for_is_kept),
		TEST(test_stopped_while_the_acknowledgement_is_kept),
		TEST(test_stopped_before_the_workspace_was_too_busy),
		TEST(test_draining_hands_back_what_was_not_begun),
		TEST(test_an_unknown_transport_is_an_outcome),
		TEST(test_a_token_is_taken_once),
		TEST(test_abandoned_is_not_reported),
		TEST(test_many),
	};

	log_init(LOG_LEVEL_ERROR, LOG_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
