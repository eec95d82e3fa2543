/*
 * test_driver_ssh_link.c - the socket of a shared connection, whose client is
 * too busy to take us, or is not there.
 */
#include "driver/transport/ssh/link.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/ssh/client.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

enum {
	WAITING_MAX = 16, /* connections that nobody takes */
	BUSY_MS = 300,
	HANGS_S = 20, /* then the loop stands still */
};

static char directory[32];
static struct sockaddr_un address;
static struct config config;
static struct loop *loop;
static int listener, waiting[WAITING_MAX];
static size_t waiting_count;
static int up, down;

static void
on_up(void *arg)
{
	(void)arg;
	up++;
	loop_stop(loop);
}

static void
on_down(void *arg, const char *reason)
{
	(void)arg;
	assert_string_equal(reason, "the connection failed");
	down++;
	loop_stop(loop);
}

static const struct ssh_link_events events = { .up = on_up, .down = on_down };

/* A link whose client, a program that does nothing, is in the background. */
static struct ssh_link *
link_new(void)
{
	const struct ssh_target target = { .host = "nowhere" };
	struct error err = { 0 };
	struct ssh_link *link = ssh_link_new(loop, &config, &target,
	    xstrdup(address.sun_path), &events, NULL, &err);

	assert_non_null(link);
	return link;
}

/* Another connection waits at the socket; false if there is no room. */
static bool
wait_there(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0 && waiting_count < WAITING_MAX);
	waiting[waiting_count++] = fd;
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

/* The client takes all that wait, and us. */
static void
take_all(void *arg)
{
	int fd;

	(void)arg;
	assert_int_equal(up + down, 0);
	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		close(fd);
	assert_int_equal(errno, EAGAIN);
}

static void
test_a_client_that_is_busy_holds_nobody_up(void **state)
{
	struct timer timer = { .fn = take_all };
	struct ssh_link *link;

	(void)state;
	while (wait_there())
		;
	assert_int_equal(errno, EAGAIN);
	link = link_new();
	loop_timer_set(loop, &timer, BUSY_MS);
	loop_run(loop);
	assert_int_equal(up, 1);
	ssh_link_free(link);
}

static void
test_a_client_that_is_gone_is_noticed(void **state)
{
	struct ssh_link *link;

	(void)state;
	unlink(address.sun_path);
	link = link_new();
	loop_run(loop);
	assert_int_equal(down, 1);
	ssh_link_free(link);
}

static int
set_up(void **state)
{
	struct error err = { 0 };

	(void)state;
	alarm(HANGS_S);
	up = down = 0;
	waiting_count = 0;
	loop = loop_new();
	config_preset(&config);
	assert_true(config_set(&config, "ssh.program=/bin/true", &err));
	strcpy(directory, "/tmp/link.XXXXXX");
	assert_non_null(mkdtemp(directory));
	address.sun_family = AF_UNIX;
	snprintf(
	    address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
	listener =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 0), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	alarm(0);
	while (waiting_count > 0)
		close(waiting[--waiting_count]);
	close(listener);
	unlink(address.sun_path);
	rmdir(directory);
	config_release(&config);
	loop_free(loop);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_a_client_that_is_busy_holds_nobody_up),
	TEST(test_a_client_that_is_gone_is_noticed),
};

UNIT_TESTS(tests)
