#include "runtime/thread_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "runtime/loop.h"

enum {
	STACK_BYTES = 512 * 1024, /* enough for the look-up of a name */
};

struct thread_call {
	const struct thread_call_type *type;
	void *data;
	int event_fd;
	atomic_int owners; /* the thread, and the caller */
	atomic_bool over;  /* the thread has written its data */
	struct loop_watch *watch;
	void (*done)(void *arg);
	void *arg;
};

static void
drop(struct thread_call *call)
{
	if (atomic_fetch_sub(&call->owners, 1) > 1)
		return;
	call->type->release(call->data);
	if (call->event_fd >= 0)
		close(call->event_fd);
	free(call);
}

static void *
run(void *arg)
{
	struct thread_call *call = arg;

	call->type->run(call->data);
	atomic_store(&call->over, true);
	eventfd_write(call->event_fd, 1);
	drop(call);
	return NULL;
}

static void
on_event(void *arg, int events)
{
	struct thread_call *call = arg;

	(void)events;
	if (!atomic_load(&call->over))
		return;
	loop_unwatch(call->watch);
	call->watch = NULL;
	call->done(call->arg);
}

/* A thread that nobody waits for and that takes none of our signals. */
static int
detach(struct thread_call *call)
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
	code = pthread_create(&thread, &attributes, run, call);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return code;
}

struct thread_call *
thread_call_start(struct loop *loop, const struct thread_call_type *type,
    void *data, void (*done)(void *arg), void *arg, struct error *err)
{
	struct thread_call *call = xcalloc(1, sizeof(*call));
	int code;

	call->type = type;
	call->data = data;
	call->done = done;
	call->arg = arg;
	call->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_init(&call->owners, 1);
	atomic_init(&call->over, false);
	if (call->event_fd < 0) {
		error_set_errno(err, "cannot create an event descriptor");
		drop(call);
		return NULL;
	}
	call->watch =
	    loop_watch(loop, call->event_fd, LOOP_READ, on_event, call);
	atomic_store(&call->owners, 2);
	code = detach(call);
	if (code != 0) {
		errno = code;
		error_set_errno(err, "cannot start a thread");
		atomic_store(&call->owners, 1);
		thread_call_free(call);
		return NULL;
	}
	return call;
}

void
thread_call_free(struct thread_call *call)
{
	if (call == NULL)
		return;
	loop_unwatch(call->watch);
	drop(call);
}
