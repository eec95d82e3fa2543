/* Reports that were not applied: when they are made again, and with which. */
#include "driver/deferred.h"

#include "driver/reports.h"
#include "driver/request.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

struct fixture {
	struct loop *loop;
	struct request_list list, due;
	struct deferred kept;
	struct request requests[4];
	struct timer deadline;
	bool late;
};

static void
on_changed(void *arg)
{
	struct fixture *fixture = arg;

	loop_stop(fixture->loop);
}

static void
on_deadline(void *arg)
{
	struct fixture *fixture = arg;

	fixture->late = true;
	loop_stop(fixture->loop);
}

static int
set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	size_t i;

	fixture->loop = loop_new();
	request_list_init(&fixture->list);
	request_list_init(&fixture->due);
	deferred_init(&fixture->kept, fixture->loop, &fixture->list,
	    &fixture->due, on_changed, fixture);
	for (i = 0; i < 4; i++)
		fixture->requests[i].task.instance_id = (int64_t)i / 2;
	fixture->deadline.fn = on_deadline;
	fixture->deadline.arg = fixture;
	loop_timer_set(fixture->loop, &fixture->deadline, 20000);
	*state = fixture;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	deferred_release(&fixture->kept);
	loop_timer_stop(fixture->loop, &fixture->deadline);
	loop_free(fixture->loop);
	free(fixture);
	return 0;
}

/* Keep a request that the workspace was so often too busy for. */
static struct request *
keep(struct fixture *fixture, size_t i, int busy)
{
	struct request *request = &fixture->requests[i];

	request->busy = busy;
	request_list_remove(request);
	request_list_add(&fixture->list, request);
	deferred_end_turn(&fixture->kept);
	return request;
}

static void
test_made_again_after_a_while_the_sooner_the_less_often(void **state)
{
	struct fixture *fixture = *state;
	const struct request *often = keep(fixture, 0, 9);
	const struct request *once = keep(fixture, 1, 1);

	while (fixture->due.count < 1 && !fixture->late)
		loop_run(fixture->loop);
	assert_ptr_equal(fixture->due.first, once);
	assert_ptr_equal(fixture->list.first, often);
	while (fixture->due.count < 2 && !fixture->late)
		loop_run(fixture->loop);
	assert_false(fixture->late);
	assert_int_equal(fixture->list.count, 0);
}

static void
test_waits_for_its_instance_after_three_times(void **state)
{
	struct fixture *fixture = *state;
	const struct request *request = keep(fixture, 0, 2);

	assert_null(deferred_alone(&fixture->kept));
	keep(fixture, 0, 3);
	assert_ptr_equal(deferred_alone(&fixture->kept), request);
	/* a report that waited in vain does not wait again at once */
	assert_null(deferred_alone(&fixture->kept));
	deferred_waited(&fixture->kept);
	assert_ptr_equal(deferred_alone(&fixture->kept), request);
}

static void
test_one_with_which_turns_fail_is_made_alone(void **state)
{
	struct fixture *fixture = *state;
	struct request *request = &fixture->requests[0];

	request->failures = 1;
	keep(fixture, 0, 0);
	assert_null(deferred_alone(&fixture->kept));
	request->failures = 2;
	assert_ptr_equal(deferred_alone(&fixture->kept), request);
	assert_ptr_equal(deferred_alone(&fixture->kept), request);
	assert_true(deferred_goes_along(request, request));
	assert_false(deferred_goes_along(request, &fixture->requests[1]));
	assert_false(deferred_goes_along(&fixture->requests[1], request));
}

static void
test_those_of_its_instance_go_along(void **state)
{
	struct fixture *fixture = *state;
	const struct request *requests = fixture->requests;

	assert_true(deferred_goes_along(&requests[0], &requests[1]));
	assert_false(deferred_goes_along(&requests[0], &requests[2]));
}

static void
test_an_instance_is_one_turns_until_that_has_ended(void **state)
{
	struct fixture *fixture = *state;
	struct request *requests = fixture->requests;
	struct reports *reports = reports_new();

	request_list_add(&fixture->due, &requests[0]);
	request_list_add(&fixture->due, &requests[1]);
	assert_int_equal(reports_carrier(reports, &requests[1]), 0);
	reports_carry(reports, 2, &requests[0], &fixture->list);
	assert_int_equal(reports_carrier(reports, &requests[1]), 2);
	assert_int_equal(reports_carrier(reports, &requests[2]), 0);
	reports_end(reports, &fixture->list);
	assert_int_equal(reports_carrier(reports, &requests[1]), 0);
	reports_free(reports);
}

static void
test_a_turn_carries_what_was_kept_or_what_was_not(void **state)
{
	struct fixture *fixture = *state;
	struct request *requests = fixture->requests;
	struct reports *reports = reports_new();
	size_t i;

	for (i = 0; i < 4; i++) {
		requests[i].busy = i % 2;
		request_list_add(&fixture->due, &requests[i]);
	}
	reports_carry_due(reports, 1, &fixture->due, &fixture->list);
	assert_int_equal(fixture->list.count, 2);
	assert_ptr_equal(fixture->list.first, &requests[0]);
	assert_ptr_equal(fixture->due.first, &requests[1]);
	reports_free(reports);
}

static void
test_what_is_new_of_a_held_instance_goes_with_what_was_kept(void **state)
{
	struct fixture *fixture = *state;
	struct request *requests = fixture->requests;
	struct reports *reports = reports_new();
	size_t i;

	for (i = 0; i < 4; i++)
		request_list_add(&fixture->due, &requests[i]);
	reports_hold(reports, &requests[0]);
	reports_carry_due(reports, 1, &fixture->due, &fixture->list);
	assert_int_equal(fixture->list.count, 2);
	assert_ptr_equal(fixture->due.first, &requests[2]);
	reports_free(reports);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_made_again_after_a_while_the_sooner_the_less_often),
		TEST(test_waits_for_its_instance_after_three_times),
		TEST(test_one_with_which_turns_fail_is_made_alone),
		TEST(test_those_of_its_instance_go_along),
		TEST(test_an_instance_is_one_turns_until_that_has_ended),
		TEST(test_a_turn_carries_what_was_kept_or_what_was_not),
		TEST(
		    test_what_is_new_of_a_held_instance_goes_with_what_was_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
