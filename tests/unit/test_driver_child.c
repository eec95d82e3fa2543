/* Programs on the loop: what they are given, and how they are let go of. */
#include "runtime/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

enum {
	LARGE = 8 << 20,
	LOOK_MS = 10,
	LOOKS = 1000, /* then it takes too long */
};

/* System calls, as they are, or as a test wants them. */
static struct {
	bool held;           /* waitpid() finds no end of any child */
	int looks, blocking; /* how often waitpid() was called, and waited */
	bool no_pidfd;       /* there is no descriptor left for a process */
	const char *from;    /* where the last write() began, */
	size_t wrote;        /* and how much it wrote; 0: nothing yet */
	size_t moved;        /* how many bytes moved between two of them */
} calls;

pid_t
waitpid(pid_t pid, int *status, int options)
{
	pid_t (*real)(pid_t, int *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "waitpid");
	calls.looks++;
	calls.blocking += (options & WNOHANG) == 0;
	return calls.held && (options & WNOHANG) != 0
	           ? 0
	           : real(pid, status, options);
}

long
syscall(long number, ...)
{
	long (*real)(long, ...);
	va_list list;
	long a[4];
	int i;

	if (number == SYS_pidfd_open && calls.no_pidfd) {
		errno = EMFILE;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return real(number, a[0], a[1], a[2], a[3]);
}

ssize_t
write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t);
	ssize_t wrote;

	*(void **)&real = dlsym(RTLD_NEXT, "write");
	if (calls.wrote > 0 && data != calls.from + calls.wrote)
		calls.moved += len;
	wrote = real(fd, data, len);
	if (wrote > 0) {
		calls.from = data;
		calls.wrote = (size_t)wrote;
	}
	return wrote;
}

struct fixture {
	struct loop *loop;
	struct child *child;
	size_t read; /* of its output */
	bool ended;
	int status;
	int looks;
	struct timer timer;
};

static int
set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	signal(SIGPIPE, SIG_IGN);
	memset(&calls, 0, sizeof(calls));
	fixture->loop = loop_new();
	fixture->timer.arg = fixture;
	*state = fixture;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	child_free(fixture->child);
	loop_free(fixture->loop);
	free(fixture);
	return 0;
}

static void
on_output(void *arg, enum pipe_stream stream, const char *data, size_t len)
{
	struct fixture *fixture = arg;

	(void)data;
	assert_int_equal(stream, PIPE_OUT);
	fixture->read += len;
}

static void
on_ended(void *arg, int status)
{
	struct fixture *fixture = arg;

	fixture->ended = true;
	fixture->status = status;
	loop_stop(fixture->loop);
}

static const struct child_events events = {
	.output = on_output,
	.ended = on_ended,
};

static void
start(struct fixture *fixture, const char *script)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	const struct child_program program = { .argv = argv };
	struct error err = { 0 };

	fixture->child =
	    child_start(fixture->loop, &program, &events, fixture, &err);
	assert_null(err.message);
}

/* Whether no child of ours is left, dead or alive. */
static bool
is_alone(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
	       errno == ECHILD;
}

static void
on_look(void *arg)
{
	struct fixture *fixture = arg;

	/* it was looked for, in vain, and what the loop has to do is done */
	if (calls.looks >= 3)
		calls.held = false;
	if (is_alone() || ++fixture->looks == LOOKS)
		loop_stop(fixture->loop);
	else
		loop_timer_set(fixture->loop, &fixture->timer, LOOK_MS);
}

/* Run the loop until no child is left. */
static void
run_until_alone(struct fixture *fixture)
{
	fixture->timer.fn = on_look;
	loop_timer_set(fixture->loop, &fixture->timer, LOOK_MS);
	loop_run(fixture->loop);
	assert_true(is_alone());
	assert_int_equal(calls.blocking, 0);
}

static void
test_input_is_never_moved(void **state)
{
	struct fixture *fixture = *state;
	char *large = xcalloc(1, LARGE);

	start(fixture, "cat");
	child_write(fixture->child, large, LARGE);
	child_close_input(fixture->child);
	loop_run(fixture->loop);
	assert_int_equal(fixture->read, LARGE);
	assert_int_equal(fixture->status, 0);
	assert_true(calls.wrote < LARGE); /* in many pieces */
	assert_int_equal(calls.moved, 0);
	free(large);
}

/* Numbers, one after the other, as they are written by and by. */
static void
on_more(void *arg)
{
	struct fixture *fixture = arg;
	char line[16];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "%d\n", ++fixture->looks);
		child_write(fixture->child, line, strlen(line));
	}
	if (fixture->looks == 200000)
		child_close_input(fixture->child);
	else
		loop_timer_set(fixture->loop, &fixture->timer, 0);
}

static void
test_input_in_pieces_keeps_its_order(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "exec 3<&0; seq 200000 | cmp - /dev/fd/3");
	fixture->timer.fn = on_more;
	on_more(fixture);
	loop_run(fixture->loop);
	assert_int_equal(fixture->read, 0);
	assert_int_equal(fixture->status, 0);
}

static void
test_a_child_that_cannot_die_holds_nothing_up(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "exec sleep 1000");
	calls.held = true;
	child_free(fixture->child);
	fixture->child = NULL;
	assert_int_equal(calls.blocking, 0);
	run_until_alone(fixture);
	assert_true(calls.looks >= 3);
	assert_false(fixture->ended);
}

static void
test_a_child_without_a_descriptor_is_killed_and_reaped(void **state)
{
	struct fixture *fixture = *state;
	char *const argv[] = { "sleep", "1000", NULL };
	const struct child_program program = { .argv = argv };
	struct error err = { 0 };

	calls.no_pidfd = true;
	assert_null(
	    child_start(fixture->loop, &program, &events, fixture, &err));
	assert_non_null(strstr(err.message, "cannot run sleep"));
	error_release(&err);
	run_until_alone(fixture);
}

static void
test_the_end_of_the_loop_waits_for_no_child(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "exec sleep 1000");
	calls.held = true;
	child_free(fixture->child);
	fixture->child = NULL;
	loop_free(fixture->loop);
	assert_int_equal(calls.blocking, 0);
	calls.held = false;
	assert_true(waitpid(-1, NULL, 0) > 0);
	fixture->loop = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_input_is_never_moved),
	TEST(test_input_in_pieces_keeps_its_order),
	TEST(test_a_child_that_cannot_die_holds_nothing_up),
	TEST(test_a_child_without_a_descriptor_is_killed_and_reaped),
	TEST(test_the_end_of_the_loop_waits_for_no_child),
};

UNIT_TESTS(tests)
