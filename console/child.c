#include "console/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"

/* In the child: it has no other way to say what is wrong. */
_Noreturn static void
give_up(const char *what)
{
	dprintf(STDERR_FILENO, "cannot %s: %s\n", what, strerror(errno));
	_exit(127);
}

static void
become(const struct account *user)
{
	if (initgroups(user->name, user->gid) != 0 || setgid(user->gid) != 0 ||
	    setuid(user->uid) != 0)
		give_up("change the user");
	if (chdir("/") != 0)
		give_up("leave the directory");
}

_Noreturn static void
become_child(const struct child *child)
{
	int empty = open("/dev/null", O_RDONLY);

	if (empty < 0 || dup2(empty, STDIN_FILENO) < 0 ||
	    dup2(child->output, STDOUT_FILENO) < 0 ||
	    dup2(child->output, STDERR_FILENO) < 0)
		give_up("set up its files");
	if (empty > STDERR_FILENO)
		close(empty);
	if (child->is_detached)
		setsid();
	if (child->user != NULL)
		become(child->user);
	execvp(child->argv[0], (char *const *)(uintptr_t)child->argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", child->argv[0],
	    strerror(errno));
	_exit(127);
}

pid_t
child_start(const struct child *child, struct error *err)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_child(child);
	if (pid < 0)
		error_set_errno(err, "cannot start %s", child->argv[0]);
	return pid;
}

/* All that comes; what is beyond the limit is read and forgotten. */
static void
read_all(int fd, struct buf *output)
{
	char chunk[4096];
	ssize_t len;

	while ((len = read(fd, chunk, sizeof(chunk))) != 0) {
		if (len > 0)
			buf_add(output, chunk, (size_t)len);
		else if (errno != EINTR)
			return;
	}
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void
set_failure(struct error *err, const char *program, int status,
    const struct buf *output)
{
	const char *name = strrchr(program, '/');
	size_t end = output->len, start;

	name = name != NULL ? name + 1 : program;
	while (end > 0 && strchr(" \t\n", output->data[end - 1]) != NULL)
		end--;
	for (start = end; start > 0 && output->data[start - 1] != '\n';)
		start--;
	if (end > start)
		error_set(err, "%s failed: %.*s", name, (int)(end - start),
		    output->data + start);
	else if (WIFSIGNALED(status))
		error_set(
		    err, "%s was killed by signal %d", name, WTERMSIG(status));
	else
		error_set(err, "%s failed", name);
}

/* The status as wait() has it; -1 if nothing was run. */
static int
run_and_read(const char *const *argv, const struct account *user,
    struct buf *output, struct error *err)
{
	struct child child = { .argv = argv, .user = user };
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
		error_set_errno(err, "cannot make a pipe");
		return -1;
	}
	child.output = pipe_fds[1];
	pid = child_start(&child, err);
	close(pipe_fds[1]);
	if (pid > 0)
		read_all(pipe_fds[0], output);
	close(pipe_fds[0]);
	return pid > 0 ? wait_for(pid) : -1;
}

bool
child_run(const char *const *argv, const struct account *user,
    struct buf *output, struct error *err)
{
	int status = run_and_read(argv, user, output, err);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (err->message == NULL)
		set_failure(err, argv[0], status, output);
	return false;
}

bool
child_ask(
    const char *const *argv, struct buf *output, int *status, struct error *err)
{
	int ended = run_and_read(argv, NULL, output, err);

	if (WIFEXITED(ended) && WEXITSTATUS(ended) != 127) {
		*status = WEXITSTATUS(ended);
		return true;
	}
	if (err->message == NULL)
		set_failure(err, argv[0], ended, output);
	return false;
}
