/* Slots that are kept for each transport. */
#include "driver/keep.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "driver/config/config.h"
#include "driver/poll_window.h"
#include "driver/request.h"
#include "driver/workspace.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

struct fixture {
	struct loop *loop;
	struct config config;
	struct transports *transports;
	struct request_table table;
	struct keep keep;
	int requests;
};

/* With builtin, http and ssh, of which two need slots. */
static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err = { 0 };

	f->loop = loop_new();
	config_preset(&f->config);
	assert_true(
	    config_set(&f->config, "transports=builtin,http,ssh", &err));
	f->transports = transports_open(f->loop, &f->config, &err);
	assert_non_null(f->transports);
	request_table_init(&f->table, "");
	f->keep.transports = f->transports;
	f->keep.config = &f->config;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	request_table_release(&f->table);
	transports_close(f->transports);
	config_release(&f->config);
	loop_free(f->loop);
	free(f);
	return 0;
}

static struct request *
take(struct fixture *f, const char *transport)
{
	char token[37];

	snprintf(token, sizeof(token), "%08x-0000-4000-8000-000000000000",
	    f->requests++);
	return request_new(&f->table,
	    &(struct workspace_row){
	        .token = token,
	        .trace_id = "",
	        .request = "start",
	        .transport = transport,
	        .type = "t.Do",
	        .args = "{}",
	        .args_len = 2,
	    },
	    f->transports);
}

/* `room` slots become those of all, of http and of ssh. */
static void
divides(
    struct fixture *f, int64_t room, int64_t slots, int64_t http, int64_t ssh)
{
	struct load load = { .slots = room };

	keep_divide(&f->keep, &f->table, 1, &load);
	assert_string_equal(load.kept[1].transport, "http");
	assert_string_equal(load.kept[2].transport, "ssh");
	assert_int_equal(load.slots, slots);
	assert_int_equal(load.kept[0].slots, 0);
	assert_int_equal(load.kept[1].slots, http);
	assert_int_equal(load.kept[2].slots, ssh);
}

static void
test_each_has_its_own(void **state)
{
	struct fixture *f = *state;

	f->config.slots = 10;
	divides(f, 10, 8, 1, 1);
	f->config.slots_kept = 2;
	divides(f, 10, 6, 2, 2);
	f->config.slots_kept = 0;
	divides(f, 10, 10, 0, 0);
}

static void
test_at_most_half_of_all(void **state)
{
	struct fixture *f = *state;
	struct load load = { .slots = 10 };

	f->config.slots_kept = 100;
	f->config.slots = 10;
	divides(f, 10, 6, 2, 2);
	f->config.slots = 3;
	divides(f, 3, 3, 0, 0);
	/* of two workspaces each has half of that */
	f->config.slots = 12;
	keep_divide(&f->keep, &f->table, 2, &load);
	assert_int_equal(load.slots, 8);
}

static void
test_what_it_has_counts(void **state)
{
	struct fixture *f = *state;
	struct request *one, *other;

	f->config.slots = 10;
	one = take(f, "http");
	divides(f, 9, 8, 0, 1);
	other = take(f, "http");
	take(f, "builtin");
	take(f, "unknown");
	divides(f, 7, 6, 0, 1);
	divides(f, 1, 0, 0, 1);
	divides(f, 0, 0, 0, 0);
	request_free(&f->table, one);
	divides(f, 8, 7, 0, 1);
	request_set_state(&f->table, other, REQUEST_OVER);
	divides(f, 9, 7, 1, 1);
}

static void
test_what_was_asked_for_counts(void **state)
{
	struct fixture *f = *state;
	struct load load = { .slots = 10 };

	f->config.slots = 10;
	keep_divide(&f->keep, &f->table, 1, &load);
	assert_int_equal(keep_ask(&f->keep, &load), 10);
	divides(f, 5, 5, 0, 0);
	assert_int_equal(keep_answer(&f->keep, &load), 10);
	divides(f, 10, 8, 1, 1);
}

static void
test_one_transport_alone_needs_none(void **state)
{
	struct fixture *f = *state;
	struct error err = { 0 };
	struct load load = { .slots = 10 };

	transports_close(f->transports);
	assert_true(config_set(&f->config, "transports=builtin,http", &err));
	f->transports = transports_open(f->loop, &f->config, &err);
	f->keep.transports = f->transports;
	keep_divide(&f->keep, &f->table, 1, &load);
	assert_int_equal(load.slots, 10);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(
	    test_each_has_its_own, set_up, tear_down),
	cmocka_unit_test_setup_teardown(
	    test_at_most_half_of_all, set_up, tear_down),
	cmocka_unit_test_setup_teardown(
	    test_what_it_has_counts, set_up, tear_down),
	cmocka_unit_test_setup_teardown(
	    test_what_was_asked_for_counts, set_up, tear_down),
	cmocka_unit_test_setup_teardown(
	    test_one_transport_alone_needs_none, set_up, tear_down),
};

int
main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
