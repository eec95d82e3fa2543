#include "console/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"

/* Called in the child, which can report an error in no other way. */
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

static void
speak_english(void)
{
	/* LANGUAGE has an effect on a server, which sets its own locale */
	if (setenv("LC_ALL", "C", 1) != 0 || unsetenv("LANGUAGE") != 0)
		give_up("set the language");
}

_Noreturn static void
become_child(const struct subprocess *subprocess)
{
	int empty = open("/dev/null", O_RDONLY);

	if (empty < 0 || dup2(empty, STDIN_FILENO) < 0 ||
	    dup2(subprocess->output, STDOUT_FILENO) < 0 ||
	    dup2(subprocess->output, STDERR_FILENO) < 0)
		give_up("set up its files");
	if (empty > STDERR_FILENO)
		close(empty);
	if (subprocess->is_detached)
		setsid();
	if (subprocess->is_english)
		speak_english();
	if (subprocess->user != NULL)
		become(subprocess->user);
	execvp(subprocess->argv[0], (char *const *)(uintptr_t)subprocess->argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", subprocess->argv[0],
	    strerror(errno));
	_exit(127);
}

pid_t
subprocess_start(const struct subprocess *subprocess, struct error *err)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_child(subprocess);
	if (pid < 0)
		error_set_errno(err, "cannot start %s", subprocess->argv[0]);
	return pid;
}

/* Read everything; bytes beyond the limit are dropped. */
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

/* How much a line tells about why a program failed. */
static int
weigh(const char *line, size_t len)
{
	static const char *const marks[] = { "FATAL", "PANIC", "ERROR",
		"error:", "No space left", "could not", "cannot" };
	size_t i;

	if (len == 0)
		return 0;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (memmem(line, len, marks[i], strlen(marks[i])) != NULL)
			return 2;
	return 1;
}

/*
 * The last of the lines that tell most: later lines are only about cleaning up.
 */
static const char *
find_reason(const struct buf *output, size_t *len)
{
	const char *line, *reason = NULL, *end;
	size_t size;
	int best = 1;

	*len = 0;
	if (output->len == 0)
		return NULL;
	for (line = output->data; *line != '\0'; line = end + (*end != '\0')) {
		end = line + strcspn(line, "\n");
		line += strspn(line, " \t");
		size = line < end ? (size_t)(end - line) : 0;
		if (weigh(line, size) < best)
			continue;
		best = weigh(line, size);
		reason = line;
		*len = size;
	}
	return reason;
}

static void
set_failure(struct error *err, const char *program, int status,
    const struct buf *output)
{
	const char *name = strrchr(program, '/'), *reason;
	size_t len;

	name = name != NULL ? name + 1 : program;
	reason = find_reason(output, &len);
	if (reason != NULL)
		error_set(err, "%s failed: %.*s", name, (int)len, reason);
	else if (WIFSIGNALED(status))
		error_set(
		    err, "%s was killed by signal %d", name, WTERMSIG(status));
	else
		error_set(err, "%s failed", name);
}

/* The status as from wait(); -1 if no program was run. */
static int
run_and_read(struct subprocess child, struct buf *output, struct error *err)
{
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
		error_set_errno(err, "cannot make a pipe");
		return -1;
	}
	child.output = pipe_fds[1];
	pid = subprocess_start(&child, err);
	close(pipe_fds[1]);
	if (pid > 0)
		read_all(pipe_fds[0], output);
	close(pipe_fds[0]);
	return pid > 0 ? wait_for(pid) : -1;
}

bool
subprocess_run(const char *const *argv, const struct account *user,
    struct buf *output, struct error *err)
{
	int status = run_and_read(
	    (struct subprocess){
	        .argv = argv, .user = user, .is_english = true },
	    output, err);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (err->message == NULL)
		set_failure(err, argv[0], status, output);
	return false;
}

bool
subprocess_ask(
    const char *const *argv, struct buf *output, int *status, struct error *err)
{
	int ended =
	    run_and_read((struct subprocess){ .argv = argv }, output, err);

	if (WIFEXITED(ended) && WEXITSTATUS(ended) != 127) {
		*status = WEXITSTATUS(ended);
		return true;
	}
	if (err->message == NULL)
		set_failure(err, argv[0], ended, output);
	return false;
}
