#include "runtime/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "runtime/descriptors.h"
#include "runtime/loop.h"
#include "runtime/reaper.h"

struct child {
	struct loop *loop;
	const struct child_events *events;
	void *arg;
	pid_t pid;
	int pid_fd;
	struct loop_watch *pid_watch;
	bool alone, reaped;
	int status;
	struct pipes pipes;
};

/* Streams ------------------------------------------------------------------ */

void
child_write(struct child *child, const void *data, size_t len)
{
	pipes_write(&child->pipes, data, len);
}

void
child_close_input(struct child *child)
{
	pipes_close_input(&child->pipes);
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
	pipes_finish(&child->pipes);
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

char **
child_environment(char *const *given)
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

void
child_environment_free(char **list)
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
	char **env = child_environment(program->env);
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
	child_environment_free(env);
	return code;
}

/* glibc has a function for this call only since 2.36. */
static int
open_pid(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/*
 * Run the program with `streams`, which are closed then.  False with errno set.
 */
static bool
run(struct child *child, const struct child_program *program, int streams[3])
{
	int code =
	        spawn(&child->pid, program, streams[0], streams[1], streams[2]),
	    i;

	for (i = 0; i < 3; i++)
		close(streams[i]);
	if (code == 0) {
		child->pid_fd = open_pid(child->pid);
		if (child->pid_fd >= 0)
			return true;
		code = errno;
		reaper_kill(child->loop, child->pid, -1);
	}
	errno = code;
	return false;
}

struct child *
child_start(struct loop *loop, const struct child_program *program,
    const struct child_events *events, void *arg, struct error *err)
{
	const char *name = program->argv[0];
	struct child *child = xcalloc(1, sizeof(*child));
	int streams[3];

	child->loop = loop;
	child->events = events;
	child->arg = arg;
	child->alone = program->alone;
	if (!pipes_open(&child->pipes, loop, streams, events->output, arg)) {
		error_set_errno(err, "cannot open pipes for %s", name);
		free(child);
		return NULL;
	}
	if (!run(child, program, streams)) {
		error_set_errno(err, "cannot run %s", name);
		pipes_close(&child->pipes);
		free(child);
		return NULL;
	}
	child->pid_watch =
	    loop_watch(loop, child->pid_fd, LOOP_READ, on_exit_of_child, child);
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
	pipes_close(&child->pipes);
	free(child);
}
