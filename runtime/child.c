#include "runtime/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "runtime/descriptors.h"
#include "runtime/loop.h"
#include "runtime/reaper.h"

enum {
	CHUNK = 32768,
};

/* One end of a pipe, on the loop. */
struct stream {
	struct child *child;
	enum child_stream which;
	int fd; /* -1: closed */
	struct loop_watch *watch;
};

struct child {
	struct loop *loop;
	const struct child_events *events;
	void *arg;
	pid_t pid;
	int pid_fd;
	struct loop_watch *pid_watch;
	bool alone, reaped;
	int status;
	struct stream in, streams[2];
	struct buf input;
	size_t written; /* of the input */
	bool close_input;
};

/* Streams ------------------------------------------------------------------ */

static void
stream_close(struct stream *stream)
{
	if (stream->fd < 0)
		return;
	loop_unwatch(stream->watch);
	close(stream->fd);
	stream->fd = -1;
}

/* Hand over some bytes, and return how many; 0 or less: none now. */
static ssize_t
receive(struct stream *stream)
{
	struct child *child = stream->child;
	char data[CHUNK];
	ssize_t len = read(stream->fd, data, sizeof(data));

	if (len > 0)
		child->events->output(
		    child->arg, stream->which, data, (size_t)len);
	else if (len == 0 || (errno != EAGAIN && errno != EINTR))
		stream_close(stream);
	return len;
}

static void
on_readable(void *arg, int events)
{
	(void)events;
	(void)receive(arg);
}

/*
 * Take the rest: the program's own output has arrived by now, but another
 * process may hold the stream for ever.
 */
static void
stream_finish(struct stream *stream)
{
	ssize_t len;
	int left;

	if (stream->fd < 0 || ioctl(stream->fd, FIONREAD, &left) < 0)
		return;
	while (left > 0 && (len = receive(stream)) > 0)
		left -= (int)len;
	stream_close(stream);
}

static void
on_writable(void *arg, int events)
{
	struct stream *stream = arg;
	struct child *child = stream->child;
	struct buf *input = &child->input;
	ssize_t len = write(stream->fd, input->data + child->written,
	    input->len - child->written);

	(void)events;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0) {
		/* the program does not want to read, which is no error */
		stream_close(stream);
		return;
	}
	child->written += (size_t)len;
	if (child->written < input->len)
		return;
	buf_release(input);
	child->written = 0;
	if (child->close_input)
		stream_close(stream);
	else
		loop_watch_set(stream->watch, 0);
}

/*
 * Drop the bytes that were written, if they are at least as many as the rest.
 * So no more bytes are moved than were written.
 */
static void
drop_written(struct child *child)
{
	struct buf *input = &child->input;
	size_t left = input->len - child->written;

	if (child->written < left)
		return;
	memmove(input->data, input->data + child->written, left);
	buf_truncate(input, left);
	child->written = 0;
}

void
child_write(struct child *child, const void *data, size_t len)
{
	if (child->in.fd < 0 || len == 0)
		return;
	drop_written(child);
	buf_add(&child->input, data, len);
	loop_watch_set(child->in.watch, LOOP_WRITE);
}

void
child_close_input(struct child *child)
{
	child->close_input = true;
	if (child->input.len == 0)
		stream_close(&child->in);
}

static void
stream_open(struct stream *stream, struct child *child, int fd, int events,
    loop_watch_fn *fn)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	stream->child = child;
	stream->fd = fd;
	stream->watch = loop_watch(child->loop, fd, events, fn, stream);
}

/* The process -------------------------------------------------------------- */

static void
on_exit_of_child(void *arg, int events)
{
	struct child *child = arg;

	(void)events;
	/* before it is reaped, no other process can have its number */
	if (child->alone)
		kill(-child->pid, SIGKILL);
	if (waitpid(child->pid, &child->status, WNOHANG) != child->pid)
		return;
	child->reaped = true;
	loop_unwatch(child->pid_watch);
	child->pid_watch = NULL;
	stream_finish(&child->streams[CHILD_OUT]);
	stream_finish(&child->streams[CHILD_ERR]);
	child->events->ended(child->arg, child->status);
}

void
child_signal(struct child *child, int signal)
{
	if (!child->reaped)
		kill(-child->pid, signal);
}

/* Whether `list`, of NAME=value, has the variable `name`. */
static bool
has_variable(char *const *list, const char *name)
{
	size_t len = strlen(name);

	for (; list != NULL && *list != NULL; list++)
		if (strncmp(*list, name, len) == 0 && (*list)[len] == '=')
			return true;
	return false;
}

/* The variables in `given`, and the few variables that all programs get. */
static char **
environment(char *const *given)
{
	static const char *const names[] = { "HOME", "LANG", "LC_ALL",
		"LOGNAME", "PATH", "TMPDIR", "USER" };
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	const char *value;
	size_t i, n = 0, count = 0;
	char **list;

	while (given != NULL && given[count] != NULL)
		count++;
	list = xcalloc(count + NAMES + 1, sizeof(list[0]));
	while (n < count) {
		list[n] = xstrdup(given[n]);
		n++;
	}
	for (i = 0; i < NAMES; i++)
		if ((value = getenv(names[i])) != NULL &&
		    !has_variable(given, names[i]))
			list[n++] = xasprintf("%s=%s", names[i], value);
	return list;
}

static void
environment_free(char **list)
{
	size_t i;

	for (i = 0; list[i] != NULL; i++)
		free_wiped(list[i]);
	free(list);
}

/* A group of its own, and all signals at their defaults. */
static void
init_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
	                                         POSIX_SPAWN_SETSIGMASK |
	                                         POSIX_SPAWN_SETSIGDEF);
}

/*
 * Give the program the three descriptors as its streams, no other descriptor,
 * and its directory.  Without memory an action would be missing, and the
 * program would have a stream or a file of ours.
 */
static int
add_actions(posix_spawn_file_actions_t *actions, const char *directory, int in,
    int out, int err)
{
	int code = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);

	if (code == 0)
		code = posix_spawn_file_actions_adddup2(
		    actions, out, STDOUT_FILENO);
	if (code == 0)
		code = posix_spawn_file_actions_adddup2(
		    actions, err, STDERR_FILENO);
	if (code == 0)
		code = posix_spawn_file_actions_addclosefrom_np(
		    actions, STDERR_FILENO + 1);
	if (code == 0 && directory != NULL)
		code = posix_spawn_file_actions_addchdir_np(actions, directory);
	return code;
}

/* Run the program with the three descriptors as its streams, and no other. */
static int
spawn(pid_t *pid, const struct child_program *program, int in, int out, int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char **env = environment(program->env);
	int code;

	posix_spawn_file_actions_init(&actions);
	code = add_actions(&actions, program->directory, in, out, err);
	init_attributes(&attributes);
	descriptors_lend();
	if (code == 0)
		code = posix_spawnp(pid, program->argv[0], &actions,
		    &attributes, program->argv, env);
	descriptors_take_back();
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	environment_free(env);
	return code;
}

static void
close_pair(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

/* Three pipes, close-on-exec; false with errno set. */
static bool
open_pipes(int pipes[3][2])
{
	int i;

	for (i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0) {
			while (i-- > 0)
				close_pair(pipes[i]);
			return false;
		}
	return true;
}

/* glibc has a function for this call only since 2.36. */
static int
open_pid(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Run the program, and leave our ends of `pipes` open; false with errno set. */
static bool
run(struct loop *loop, const struct child_program *program, int pipes[3][2],
    pid_t *pid, int *pid_fd)
{
	int code = spawn(pid, program, pipes[0][0], pipes[1][1], pipes[2][1]);

	close(pipes[0][0]);
	close(pipes[1][1]);
	close(pipes[2][1]);
	if (code == 0) {
		*pid_fd = open_pid(*pid);
		if (*pid_fd >= 0)
			return true;
		code = errno;
		reaper_kill(loop, *pid, -1);
	}
	close(pipes[0][1]);
	close(pipes[1][0]);
	close(pipes[2][0]);
	errno = code;
	return false;
}

static void
open_streams(struct child *child, int pipes[3][2])
{
	int i;

	stream_open(&child->in, child, pipes[0][1], 0, on_writable);
	for (i = 0; i < 2; i++) {
		child->streams[i].which = i == 0 ? CHILD_OUT : CHILD_ERR;
		stream_open(&child->streams[i], child, pipes[i + 1][0],
		    LOOP_READ, on_readable);
	}
}

struct child *
child_start(struct loop *loop, const struct child_program *program,
    const struct child_events *events, void *arg, struct error *err)
{
	const char *name = program->argv[0];
	int pipes[3][2], pid_fd;
	struct child *child;
	pid_t pid;

	if (!open_pipes(pipes)) {
		error_set_errno(err, "cannot open pipes for %s", name);
		return NULL;
	}
	if (!run(loop, program, pipes, &pid, &pid_fd)) {
		error_set_errno(err, "cannot run %s", name);
		return NULL;
	}
	child = xcalloc(1, sizeof(*child));
	child->loop = loop;
	child->events = events;
	child->arg = arg;
	child->alone = program->alone;
	child->pid = pid;
	child->pid_fd = pid_fd;
	child->pid_watch =
	    loop_watch(loop, pid_fd, LOOP_READ, on_exit_of_child, child);
	buf_init_secret(&child->input, 0); /* secrets go there */
	open_streams(child, pipes);
	return child;
}

void
child_free(struct child *child)
{
	if (child == NULL)
		return;
	loop_unwatch(child->pid_watch);
	if (child->reaped)
		close(child->pid_fd);
	else
		reaper_kill(child->loop, child->pid, child->pid_fd);
	stream_close(&child->in);
	stream_close(&child->streams[CHILD_OUT]);
	stream_close(&child->streams[CHILD_ERR]);
	buf_release(&child->input);
	free(child);
}
