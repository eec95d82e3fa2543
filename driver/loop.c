#include "driver/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"

enum {
	EVENTS_PER_WAIT = 64,
};

/* One that was given back may still stand among the events being handled. */
struct loop_watch {
	struct loop *loop;
	int fd;
	int events;
	loop_watch_fn *fn; /* NULL: given back */
	void *arg;
	struct loop_watch *next_dead;
};

struct loop {
	int epoll_fd;
	int signal_fd;
	bool stopped;
	struct timers timers;
	struct loop_call *calls, **calls_end;
	struct loop_watch *dead;
	struct loop_watch *signal_watch;
	sigset_t signals;
	loop_signal_fn *signal_fn;
	void *signal_arg;
};

struct loop *
loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		fatal("cannot create an epoll descriptor");
	loop->signal_fd = -1;
	loop->calls_end = &loop->calls;
	sigemptyset(&loop->signals);
	return loop;
}

static void
bury(struct loop *loop)
{
	struct loop_watch *watch;

	while ((watch = loop->dead)) {
		loop->dead = watch->next_dead;
		free(watch);
	}
}

void
loop_free(struct loop *loop)
{
	if (!loop)
		return;
	loop_unwatch(loop->signal_watch);
	bury(loop);
	timers_release(&loop->timers);
	if (loop->signal_fd >= 0)
		close(loop->signal_fd);
	close(loop->epoll_fd);
	free(loop);
}

static uint32_t
to_epoll(int events)
{
	return (events & LOOP_READ ? (uint32_t)EPOLLIN : 0) |
	       (events & LOOP_WRITE ? (uint32_t)EPOLLOUT : 0);
}

static int
from_epoll(uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP))
		return LOOP_READ | LOOP_WRITE;
	return (events & EPOLLIN ? LOOP_READ : 0) |
	       (events & EPOLLOUT ? LOOP_WRITE : 0);
}

struct loop_watch *
loop_watch(struct loop *loop, int fd, int events, loop_watch_fn *fn, void *arg)
{
	struct loop_watch *watch = xcalloc(1, sizeof(*watch));
	struct epoll_event event = { .events = to_epoll(events) };

	watch->loop = loop;
	watch->fd = fd;
	watch->events = events;
	watch->fn = fn;
	watch->arg = arg;
	event.data.ptr = watch;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		fatal("cannot watch descriptor %d", fd);
	return watch;
}

void
loop_watch_set(struct loop_watch *watch, int events)
{
	struct epoll_event event = { .events = to_epoll(events) };

	if (watch->events == events)
		return;
	watch->events = events;
	event.data.ptr = watch;
	if (epoll_ctl(
	        watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) == 0)
		return;
	/* a library may have closed it and opened another under its number */
	if (errno != ENOENT ||
	    epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event))
		fatal("cannot watch descriptor %d", watch->fd);
	log_debug("descriptor %d is another one now", watch->fd);
}

void
loop_unwatch(struct loop_watch *watch)
{
	if (!watch)
		return;
	/* fails only if libpq has closed it unasked: then it is gone anyway */
	(void)epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->fn = NULL;
	watch->next_dead = watch->loop->dead;
	watch->loop->dead = watch;
}

void
loop_timer_set(struct loop *loop, struct timer *timer, int64_t ms)
{
	timer->due = mono_add_ms(mono_now(), ms);
	timers_set(&loop->timers, timer);
}

void
loop_timer_stop(struct loop *loop, struct timer *timer)
{
	timers_stop(&loop->timers, timer);
}

void
loop_later(struct loop *loop, struct loop_call *call)
{
	if (call->queued)
		return;
	call->queued = true;
	call->next = NULL;
	*loop->calls_end = call;
	loop->calls_end = &call->next;
}

void
loop_cancel(struct loop *loop, struct loop_call *call)
{
	struct loop_call **place = &loop->calls;

	if (!call->queued)
		return;
	while (*place != call)
		place = &(*place)->next;
	*place = call->next;
	if (call->next == NULL)
		loop->calls_end = place;
	call->queued = false;
}

static void
on_signal(void *arg, int events)
{
	struct loop *loop = arg;
	struct signalfd_siginfo info;

	(void)events;
	if (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info))
		loop->signal_fn(loop->signal_arg, (int)info.ssi_signo);
}

void
loop_signal(struct loop *loop, int signal, loop_signal_fn *fn, void *arg)
{
	loop->signal_fn = fn;
	loop->signal_arg = arg;
	sigaddset(&loop->signals, signal);
	if (sigprocmask(SIG_BLOCK, &loop->signals, NULL) < 0)
		fatal("cannot block signals");
	loop->signal_fd = signalfd(
	    loop->signal_fd, &loop->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signal_fd < 0)
		fatal("cannot create a signal descriptor");
	if (!loop->signal_watch)
		loop->signal_watch = loop_watch(
		    loop, loop->signal_fd, LOOP_READ, on_signal, loop);
}

static void
run_calls(struct loop *loop)
{
	struct loop_call *call;

	while ((call = loop->calls) && !loop->stopped) {
		loop->calls = call->next;
		if (!loop->calls)
			loop->calls_end = &loop->calls;
		call->queued = false;
		call->fn(call->arg);
	}
}

static void
run_timers(struct loop *loop)
{
	struct mono now = mono_now();
	struct timer *timer;

	while ((timer = timers_first(&loop->timers)) && !loop->stopped &&
	       !mono_before(now, timer->due)) {
		timers_stop(&loop->timers, timer);
		timer->fn(timer->arg);
	}
}

static int
wait_ms(const struct loop *loop)
{
	const struct timer *timer = timers_first(&loop->timers);
	int64_t ms;

	if (!timer)
		return -1;
	ms = mono_diff_ms(timer->due, mono_now());
	return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static void
run_events(struct loop *loop)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	struct loop_watch *watch;
	int i, count;

	count =
	    epoll_wait(loop->epoll_fd, events, EVENTS_PER_WAIT, wait_ms(loop));
	if (count < 0 && errno != EINTR)
		fatal("cannot wait for events");
	for (i = 0; i < count && !loop->stopped; i++) {
		watch = events[i].data.ptr;
		if (watch->fn)
			watch->fn(watch->arg, from_epoll(events[i].events));
	}
	bury(loop);
}

void
loop_run(struct loop *loop)
{
	loop->stopped = false;
	while (!loop->stopped) {
		run_timers(loop);
		run_calls(loop);
		if (!loop->stopped)
			run_events(loop);
	}
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
