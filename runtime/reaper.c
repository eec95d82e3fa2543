#include "runtime/reaper.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/mem.h"
#include "runtime/loop.h"

enum {
	AGAIN_MS = 100,
};

struct reaper {
	struct loop *loop;
	pid_t pid;
	int pid_fd;
	struct loop_watch *watch; /* of pid_fd; NULL: the timer asks */
	struct timer timer;
	struct loop_end end;
};

/* Whether the process is gone, or is not ours. */
static bool
is_reaped(const struct reaper *reaper)
{
	return waitpid(reaper->pid, NULL, WNOHANG) != 0;
}

static void
reaper_free(struct reaper *reaper)
{
	loop_unwatch(reaper->watch);
	loop_timer_stop(reaper->loop, &reaper->timer);
	loop_not_at_end(&reaper->end);
	if (reaper->pid_fd >= 0)
		close(reaper->pid_fd);
	free(reaper);
}

/*
 * The process should have ended.  If a debugger still has it, the descriptor
 * says nothing: then a timer asks.
 */
static void
reap(void *arg)
{
	struct reaper *reaper = arg;

	if (is_reaped(reaper)) {
		reaper_free(reaper);
		return;
	}
	loop_unwatch(reaper->watch);
	reaper->watch = NULL;
	loop_timer_set(reaper->loop, &reaper->timer, AGAIN_MS);
}

static void
on_exit_of_child(void *arg, int events)
{
	(void)events;
	reap(arg);
}

/* Reap it if it has ended; else whoever takes over our children will. */
static void
on_loop_end(void *arg)
{
	struct reaper *reaper = arg;

	(void)is_reaped(reaper);
	reaper_free(reaper);
}

void
reaper_kill(struct loop *loop, pid_t pid, int pid_fd)
{
	struct reaper *reaper = xcalloc(1, sizeof(*reaper));

	kill(-pid, SIGKILL);
	reaper->loop = loop;
	reaper->pid = pid;
	reaper->pid_fd = pid_fd;
	reaper->timer.fn = reap;
	reaper->timer.arg = reaper;
	reaper->end.fn = on_loop_end;
	reaper->end.arg = reaper;
	loop_at_end(loop, &reaper->end);
	if (pid_fd >= 0)
		reaper->watch = loop_watch(
		    loop, pid_fd, LOOP_READ, on_exit_of_child, reaper);
	else
		loop_timer_set(loop, &reaper->timer, 0);
}
