/*
 * ssh_master.h - a client that holds a shared connection, played by a unit test
 * in the loop of the session, and what that session tells.  Included once in a
 * program.
 */
#ifndef TESTS_UNIT_SSH_MASTER_H
#define TESTS_UNIT_SSH_MASTER_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "driver/transport/ssh/session.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

enum {
	WAITING_MAX = 16, /* connections that nobody takes */
	HANGS_S = 20,     /* then the loop stands still */
	SLOW = 4096,      /* what a slow master reads at a time */
	PIPE_SIZE = 65536,
	AGAIN_MS = 20, /* as in session.c */
};

#define LOST "the shared connection was lost"
#define WRONG "the shared connection gave a wrong answer"

static char directory[32];
static struct sockaddr_un address;
static struct loop *loop;
static struct ssh_session *session;
static int descriptors; /* how many there are without a session */

/* Callbacks stop the loop, so that what has come is looked at. */
#define RUN_UNTIL(holds) \
	do { \
		while (!(holds)) \
			loop_run(loop); \
	} while (0)

/* How often we made a socket for a connection; the loop is stopped then. */
static int asked;

int
socket(int domain, int type, int protocol)
{
	int (*real)(int, int, int);

	*(void **)&real = dlsym(RTLD_NEXT, "socket");
	asked++;
	if (loop != NULL)
		loop_stop(loop);
	return real(domain, type, protocol);
}

static int refusals; /* so often no stream may be given */

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
	if (refusals > 0) {
		refusals--;
		errno = ETOOMANYREFS;
		return -1;
	}
	return real(fd, message, flags);
}

/* What a session tells ------------------------------------------------------- */

static struct {
	struct buf streams[2];
	int ended, code;
	char *reason;
	bool frees;   /* the session, as soon as it has ended */
	bool runs_on; /* output does not stop the loop */
} told;

static void
on_output(void *arg, enum pipe_stream stream, const char *data, size_t len)
{
	assert_ptr_equal(arg, &told);
	assert_int_equal(told.ended, 0);
	assert_true(len > 0);
	buf_add(&told.streams[stream], data, len);
	if (!told.runs_on)
		loop_stop(loop);
}

static void
on_ended(void *arg, int code, const char *reason)
{
	assert_ptr_equal(arg, &told);
	told.ended++;
	told.code = code;
	free(told.reason);
	told.reason = reason != NULL ? xstrdup(reason) : NULL;
	if (told.frees) {
		ssh_session_free(session);
		session = NULL;
	}
	loop_stop(loop);
}

static const struct ssh_session_events events = {
	.output = on_output,
	.ended = on_ended,
};

/* Each callback that is due is made, and those which they lead to. */
static int passes;

static void
on_pass(void *arg, int ready)
{
	(void)arg;
	(void)ready;
	if (--passes == 0)
		loop_stop(loop);
}

static void
settle(void)
{
	int fd = eventfd(0, EFD_CLOEXEC); /* there is always room in it */
	struct loop_watch *watch;

	assert_true(fd >= 0);
	passes = 4;
	watch = loop_watch(loop, fd, LOOP_WRITE, on_pass, NULL);
	RUN_UNTIL(passes == 0);
	loop_unwatch(watch);
	close(fd);
}

static void
on_time(void *arg)
{
	*(bool *)arg = true;
	loop_stop(loop);
}

/* A timer of the session that is set comes before ours. */
static void
pass_time(void)
{
	bool is_over = false;
	struct timer timer = { .fn = on_time, .arg = &is_over };

	loop_timer_set(loop, &timer, AGAIN_MS + 1);
	RUN_UNTIL(is_over);
}

static void
assert_ended(int code, const char *reason)
{
	RUN_UNTIL(told.ended > 0);
	settle();
	assert_int_equal(told.ended, 1);
	assert_int_equal(told.code, code);
	if (reason == NULL)
		assert_null(told.reason);
	else
		assert_string_equal(told.reason, reason);
}

static void
assert_nothing_told(void)
{
	settle();
	assert_int_equal(told.ended, 0);
	assert_int_equal(told.streams[PIPE_OUT].len, 0);
	assert_int_equal(told.streams[PIPE_ERR].len, 0);
}

static void
assert_output(enum pipe_stream stream, const char *text)
{
	struct buf *output = &told.streams[stream];

	RUN_UNTIL(output->len >= strlen(text));
	assert_string_equal(output->data, text);
}

static int
count_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(list);
	while (readdir(list) != NULL)
		count++;
	closedir(list);
	return count;
}

/* The master: the client that holds the connection ----------------------------- */

static struct {
	int listener, fd;
	struct loop_watch *listener_watch, *watch;
	size_t piece;    /* what it reads at a time */
	struct buf said; /* by us */
	int streams[3];
	size_t given; /* how many of them it has */
	size_t early; /* the bytes that had come before the first of them */
	bool left;    /* we have closed the connection */
} master;

static void
keep_streams(struct msghdr *message)
{
	struct cmsghdr *header;

	for (header = CMSG_FIRSTHDR(message); header != NULL;
	     header = CMSG_NXTHDR(message, header)) {
		assert_int_equal(header->cmsg_type, SCM_RIGHTS);
		assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof(int)));
		assert_true(master.given < 3);
		if (master.given == 0)
			master.early = master.said.len;
		memcpy(&master.streams[master.given++], CMSG_DATA(header),
		    sizeof(int));
	}
}

static void
on_said(void *arg, int ready)
{
	char data[PIPE_SIZE], control[CMSG_SPACE(4 * sizeof(int))] = { 0 };
	struct iovec place = { .iov_base = data, .iov_len = master.piece };
	struct msghdr message = {
		.msg_iov = &place,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(master.fd, &message, MSG_CMSG_CLOEXEC);

	(void)arg;
	(void)ready;
	loop_stop(loop);
	if (len <= 0) {
		assert_true(len == 0 || errno == ECONNRESET);
		master.left = true;
		loop_unwatch(master.watch);
		master.watch = NULL;
		return;
	}
	buf_add(&master.said, data, (size_t)len);
	keep_streams(&message);
}

static void
on_connection(void *arg, int ready)
{
	(void)arg;
	(void)ready;
	assert_int_equal(master.fd, -1);
	master.fd =
	    accept4(master.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(master.fd >= 0);
	master.watch = loop_watch(loop, master.fd, LOOP_READ, on_said, NULL);
	loop_stop(loop);
}

/* Whether the master gets connections. */
static void
master_serves(bool serves)
{
	loop_watch_set(master.listener_watch, serves ? LOOP_READ : 0);
}

static void
master_stop_listening(void)
{
	loop_unwatch(master.listener_watch);
	master.listener_watch = NULL;
	if (master.listener >= 0)
		close(master.listener);
	master.listener = -1;
}

static void
master_hang_up(void)
{
	loop_unwatch(master.watch);
	master.watch = NULL;
	if (master.fd >= 0)
		close(master.fd);
	master.fd = -1;
}

static void
master_close_stream(int stream)
{
	if (master.streams[stream] >= 0)
		close(master.streams[stream]);
	master.streams[stream] = -1;
}

static void
master_forget(void)
{
	int i;

	master_hang_up();
	for (i = 0; i < 3; i++)
		master_close_stream(i);
	buf_release(&master.said);
	master.given = master.early = 0;
	master.left = false;
}

static void
master_writes(int stream, const char *data, size_t len)
{
	assert_int_equal(write(master.streams[stream], data, len), len);
}

static void
master_says(const unsigned char *bytes, size_t len)
{
	assert_int_equal(send(master.fd, bytes, len, MSG_NOSIGNAL), len);
}

#define N(number) 0, 0, 0, number
#define HELLO N(8), N(1), N(4)
#define OPENED N(12), 0x80, 0, 0, 6, N(0), N(1)
#define EXITED(status) N(12), 0x80, 0, 0, 4, N(1), N(status)
#define SAYS(...) \
	master_says((const unsigned char[]){ __VA_ARGS__ }, \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }))

/* A session of the command; it may not be there yet. */
static void
ask(const char *command)
{
	struct error err = { 0 };

	session = ssh_session_share(
	    loop, address.sun_path, command, &events, &told, &err);
	assert_null(err.message);
	assert_non_null(session);
	assert_int_equal(told.ended, 0); /* events come from the loop */
}

/* The same when the master has all that it needs, and says so. */
static void
begin(void)
{
	ask("true");
	RUN_UNTIL(master.given == 3);
	SAYS(HELLO, OPENED);
}

static int waiting[WAITING_MAX];
static size_t waiting_count;

/* Other connections wait until there is no room. */
static void
crowd_master(void)
{
	int fd, code;

	master_serves(false);
	do {
		fd = socket(
		    AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_true(fd >= 0 && waiting_count < WAITING_MAX);
		waiting[waiting_count++] = fd;
		code =
		    connect(fd, (struct sockaddr *)&address, sizeof(address));
	} while (code == 0);
	assert_int_equal(errno, EAGAIN);
	asked = 0;
}

/* All that wait are taken, and go.  Returns how many were taken. */
static size_t
take_crowd(void)
{
	size_t count = 0;
	int fd;

	while ((fd = accept(master.listener, NULL, NULL)) >= 0) {
		close(fd);
		count++;
	}
	assert_int_equal(errno, EAGAIN);
	while (waiting_count > 0)
		close(waiting[--waiting_count]);
	return count;
}

/* A command that a socket cannot hold, not even twice; the caller frees it. */
static char *
large_command(void)
{
	int size;
	socklen_t len = sizeof(size);
	char *command;
	size_t i;

	assert_int_equal(
	    getsockopt(master.listener, SOL_SOCKET, SO_SNDBUF, &size, &len), 0);
	if (size < 50000)
		size = 50000;
	command = xmalloc((size_t)size * 4 + 1);
	for (i = 0; i < (size_t)size * 4; i++)
		command[i] = (char)('a' + i % 23);
	command[i] = '\0';
	return command;
}

/* Fixture -------------------------------------------------------------------- */

static int
set_up(void **state)
{
	(void)state;
	alarm(HANGS_S);
	signal(SIGPIPE, SIG_IGN);
	memset(&told, 0, sizeof(told));
	buf_init(&told.streams[PIPE_OUT], 0);
	buf_init(&told.streams[PIPE_ERR], 0);
	memset(&master, 0, sizeof(master));
	buf_init(&master.said, 0);
	master.fd = -1;
	memset(master.streams, -1, sizeof(master.streams));
	master.piece = PIPE_SIZE;
	session = NULL;
	asked = refusals = 0;
	loop = loop_new();
	strcpy(directory, "/tmp/session.XXXXXX");
	assert_non_null(mkdtemp(directory));
	address.sun_family = AF_UNIX;
	snprintf(
	    address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
	master.listener =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(
	    bind(master.listener, (struct sockaddr *)&address, sizeof(address)),
	    0);
	assert_int_equal(listen(master.listener, 0), 0);
	master.listener_watch =
	    loop_watch(loop, master.listener, LOOP_READ, on_connection, NULL);
	descriptors = count_descriptors();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	ssh_session_free(session);
	session = NULL;
	master_forget();
	master_stop_listening();
	while (waiting_count > 0)
		close(waiting[--waiting_count]);
	unlink(address.sun_path);
	rmdir(directory);
	buf_release(&told.streams[PIPE_OUT]);
	buf_release(&told.streams[PIPE_ERR]);
	free(told.reason);
	loop_free(loop);
	loop = NULL;
	alarm(0);
	return 0;
}

/* Free the session, of which nothing is told from then on. */
static void
assert_freed_silently(void)
{
	int ended = told.ended;
	size_t len = told.streams[PIPE_OUT].len;

	ssh_session_free(session);
	session = NULL;
	settle();
	assert_int_equal(told.ended, ended);
	assert_int_equal(told.streams[PIPE_OUT].len, len);
	master_forget();
	assert_int_equal(count_descriptors(), descriptors);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
