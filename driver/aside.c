#include "driver/aside.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/loop.h"

enum {
	STACK_BYTES = 512 * 1024, /* enough for the look-up of a name */
};

struct aside {
	const struct aside_call *call;
	void *data;
	int event_fd;
	atomic_int owners; /* the thread, and whoever started it */
	struct loop_watch *watch;
	void (*done)(void *arg);
	void *arg;
};

static void
drop(struct aside *aside)
{
	if (atomic_fetch_sub(&aside->owners, 1) > 1)
		return;
	aside->call->release(aside->data);
	if (aside->event_fd >= 0)
		close(aside->event_fd);
	free(aside);
}

static void *
run(void *arg)
{
	struct aside *aside = arg;

	aside->call->run(aside->data);
	eventfd_write(aside->event_fd, 1);
	drop(aside);
	return NULL;
}

static void
on_event(void *arg, int events)
{
	struct aside *aside = arg;

	(void)events;
	loop_unwatch(aside->watch);
	aside->watch = NULL;
	aside->done(aside->arg);
}

/* A thread that nobody waits for and that takes none of our signals. */
static int
detach(struct aside *aside)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int code;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, &attributes, run, aside);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return code;
}

struct aside *
aside_start(struct loop *loop, const struct aside_call *call, void *data,
    void (*done)(void *arg), void *arg, struct error *err)
{
	struct aside *aside = xcalloc(1, sizeof(*aside));
	int code;

	aside->call = call;
	aside->data = data;
	aside->done = done;
	aside->arg = arg;
	aside->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_init(&aside->owners, 1);
	if (aside->event_fd < 0) {
		error_set_errno(err, "cannot create an event descriptor");
		drop(aside);
		return NULL;
	}
	aside->watch =
	    loop_watch(loop, aside->event_fd, LOOP_READ, on_event, aside);
	atomic_store(&aside->owners, 2);
	code = detach(aside);
	if (code != 0) {
		errno = code;
		error_set_errno(err, "cannot start a thread");
		atomic_store(&aside->owners, 1);
		aside_free(aside);
		return NULL;
	}
	return aside;
}

void
aside_free(struct aside *aside)
{
	if (aside == NULL)
		return;
	loop_unwatch(aside->watch);
	drop(aside);
}
