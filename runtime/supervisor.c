#include "runtime/supervisor.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "runtime/loop.h"

enum {
	STATUS_MS = 1000,
	LONGEST_BEAT_MS = 3600000,
};

struct supervisor {
	struct loop *loop;
	supervisor_status_fn *status;
	void *arg;
	int fd; /* -1: nobody listens */
	struct sockaddr_un address;
	socklen_t address_len;
	int64_t beat_ms;  /* 0: no watchdog */
	struct buf shown; /* the last status */
	struct timer status_timer, beat_timer;
};

static void
say(struct supervisor *supervisor, const char *text)
{
	if (supervisor->fd >= 0 &&
	    sendto(supervisor->fd, text, strlen(text), MSG_NOSIGNAL,
	        (struct sockaddr *)&supervisor->address,
	        supervisor->address_len) < 0)
		log_debug("cannot tell the supervisor: %s", strerror(errno));
}

static void
say_status(struct supervisor *supervisor)
{
	struct buf line;

	if (supervisor->fd < 0)
		return;
	buf_init(&line, 0);
	buf_adds(&line, "STATUS=");
	supervisor->status(supervisor->arg, &line);
	if (strcmp(line.data, supervisor->shown.data) != 0)
		say(supervisor, line.data);
	buf_release(&supervisor->shown);
	supervisor->shown = line;
}

static void
on_status(void *arg)
{
	struct supervisor *supervisor = arg;

	say_status(supervisor);
	loop_timer_set(supervisor->loop, &supervisor->status_timer, STATUS_MS);
}

static void
on_beat(void *arg)
{
	struct supervisor *supervisor = arg;

	say(supervisor, "WATCHDOG=1");
	loop_timer_set(
	    supervisor->loop, &supervisor->beat_timer, supervisor->beat_ms);
}

/* "@name" is an abstract address: a NUL, then the name. */
static bool
set_address(struct supervisor *supervisor, const char *path)
{
	struct sockaddr_un *address = &supervisor->address;
	size_t len = strlen(path);

	if ((*path != '/' && *path != '@') || len < 2 ||
	    len >= sizeof(address->sun_path))
		return false;
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, len);
	if (*path == '@')
		address->sun_path[0] = '\0';
	supervisor->address_len =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	return true;
}

static void
open_socket(struct supervisor *supervisor, const char *path)
{
	supervisor->fd = -1;
	if (path == NULL)
		return;
	if (!set_address(supervisor, path)) {
		log_warnx("NOTIFY_SOCKET is not an address: %s", path);
		return;
	}
	supervisor->fd =
	    socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (supervisor->fd < 0)
		log_warn("cannot tell the supervisor anything");
}

/* Half of the time after which the supervisor would take us for dead. */
static int64_t
beat_interval(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	long long ms = usec != NULL ? strtoll(usec, NULL, 10) / 2000 : 0;

	if (ms <= 0 || (pid != NULL && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return ms < LONGEST_BEAT_MS ? ms : LONGEST_BEAT_MS;
}

struct supervisor *
supervisor_new(struct loop *loop, supervisor_status_fn *status, void *arg)
{
	struct supervisor *supervisor = xcalloc(1, sizeof(*supervisor));

	supervisor->loop = loop;
	supervisor->status = status;
	supervisor->arg = arg;
	supervisor->status_timer.fn = on_status;
	supervisor->status_timer.arg = supervisor;
	supervisor->beat_timer.fn = on_beat;
	supervisor->beat_timer.arg = supervisor;
	buf_init(&supervisor->shown, 0);
	open_socket(supervisor, getenv("NOTIFY_SOCKET"));
	supervisor->beat_ms = supervisor->fd >= 0 ? beat_interval() : 0;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return supervisor;
}

void
supervisor_free(struct supervisor *supervisor)
{
	if (supervisor == NULL)
		return;
	loop_timer_stop(supervisor->loop, &supervisor->status_timer);
	loop_timer_stop(supervisor->loop, &supervisor->beat_timer);
	buf_release(&supervisor->shown);
	if (supervisor->fd >= 0)
		close(supervisor->fd);
	free(supervisor);
}

void
supervisor_ready(struct supervisor *supervisor)
{
	say(supervisor, "READY=1");
	if (supervisor->fd >= 0)
		on_status(supervisor);
	if (supervisor->beat_ms > 0)
		on_beat(supervisor);
}

void
supervisor_reloading(struct supervisor *supervisor)
{
	char *text = xasprintf("RELOADING=1\nMONOTONIC_USEC=%lld",
	    (long long)mono_now().ns / 1000);

	say(supervisor, text);
	free(text);
}

void
supervisor_stopping(struct supervisor *supervisor)
{
	say(supervisor, "STOPPING=1");
	say_status(supervisor);
}
