/*
 * test_driver_lookup.c - names are looked up while the loop goes on.
 */
#include "runtime/lookup.h"

#include <unistd.h>

#include "common/error.h"
#include "runtime/loop.h"
#include "runtime/thread_call.h"
#include "tests/unit/unit.h"

static struct loop *loop;
static int released;

static void
stop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static struct lookup *
look_up(const char *name)
{
	struct error err = { 0 };
	struct lookup *lookup = lookup_start(loop, name, stop, NULL, &err);

	assert_non_null(lookup);
	loop_run(loop);
	return lookup;
}

static void
test_a_name(void **state)
{
	struct lookup *lookup = look_up("localhost");
	struct error err = { 0 };
	char *address;
	bool found = false;
	size_t i;

	(void)state;
	for (i = 0; (address = lookup_address(lookup, i, &err)) != NULL; i++) {
		found |= strcmp(address, "127.0.0.1") == 0;
		free(address);
	}
	assert_true(found);
	assert_null(err.message);
	lookup_free(lookup);
}

static void
test_figures(void **state)
{
	struct lookup *lookup = look_up("::1");
	struct error err = { 0 };
	char *address = lookup_address(lookup, 0, &err);

	(void)state;
	assert_string_equal(address, "::1");
	free(address);
	lookup_free(lookup);
}

static void
test_no_such_name(void **state)
{
	struct lookup *lookup = look_up("no such name");
	struct error err = { 0 };

	(void)state;
	assert_null(lookup_address(lookup, 0, &err));
	assert_non_null(strstr(err.message, "\"no such name\""));
	error_release(&err);
	lookup_free(lookup);
}

/* What waits in the tests of thread calls: for the other end of a pipe. */
static void
wait_for_byte(void *data)
{
	char byte;

	if (read(((int *)data)[0], &byte, 1) != 1)
		abort();
}

static void
note_release(void *data)
{
	(void)data;
	__atomic_fetch_add(&released, 1, __ATOMIC_SEQ_CST);
}

static const struct thread_call_type waiting = {
	.run = wait_for_byte,
	.release = note_release,
};

static void
write_byte(void *arg)
{
	assert_int_equal(write(((int *)arg)[1], "x", 1), 1);
}

static void
test_the_loop_goes_on(void **state)
{
	struct timer timer = { .fn = write_byte };
	struct error err = { 0 };
	struct thread_call *call;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	timer.arg = ends;
	call = thread_call_start(loop, &waiting, ends, stop, NULL, &err);
	loop_timer_set(loop, &timer, 1);
	loop_run(loop);
	thread_call_free(call);
	/* by us, or by the thread, which may still be about to end */
	while (__atomic_load_n(&released, __ATOMIC_SEQ_CST) < 1)
		usleep(1000);
	close(ends[0]);
	close(ends[1]);
}

static void
test_given_up(void **state)
{
	struct error err = { 0 };
	struct thread_call *call;
	int ends[2];

	(void)state;
	released = 0;
	assert_int_equal(pipe(ends), 0);
	call = thread_call_start(loop, &waiting, ends, stop, NULL, &err);
	thread_call_free(call);
	assert_int_equal(__atomic_load_n(&released, __ATOMIC_SEQ_CST), 0);
	write_byte(ends);
	while (__atomic_load_n(&released, __ATOMIC_SEQ_CST) < 1)
		usleep(1000);
	close(ends[0]);
	close(ends[1]);
}

static int
set_up(void **state)
{
	(void)state;
	loop = loop_new();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	loop_free(loop);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_no_such_name),
		cmocka_unit_test(test_the_loop_goes_on),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
