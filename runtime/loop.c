#include "runtime/loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"

enum {
	EVENTS_PER_WAIT = 64,
	/* pause before the kernel is asked again */
	AGAIN_MS = 100,
	FAILED_WAITS = 50, /* in a row; then the program ends */
	TRIES = 10,        /* to have the kernel forget a descriptor */
};

/*
 * A watch that was given back may still be among the events being handled.  A
 * watch is late if the kernel has refused it: the kernel is asked again.
 */
struct loop_watch {
	struct loop *loop;
	int fd;
	int events;
	loop_watch_fn *fn; /* NULL: given back */
	void *arg;
	SLIST_ENTRY(loop_watch) dead;
	bool is_late;
	LIST_ENTRY(loop_watch) late;
};

/* The function that a signal calls; NULL if nothing watches it. */
struct signal_call {
	loop_signal_fn *fn;
	void *arg;
};

struct loop {
	int epoll_fd;
	int signal_fd;
	bool stopped;
	struct timers timers;
	TAILQ_HEAD(loop_calls, loop_call) calls;
	SLIST_HEAD(dead_watches, loop_watch) dead;
	LIST_HEAD(late_watches, loop_watch) late;
	LIST_HEAD(loop_ends, loop_end) ends;
	struct timer late_timer; /* runs while any watch is late */
	int failed_waits;        /* in a row */
	struct loop_watch *signal_watch;
	sigset_t signals;
	struct signal_call signal_calls[NSIG];
	struct mono woke; /* when the last wait ended */
	struct loop_lag lag;
};

static void on_late(void *arg);

struct loop *
loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		fatal("cannot create an epoll descriptor");
	loop->signal_fd = -1;
	TAILQ_INIT(&loop->calls);
	SLIST_INIT(&loop->dead);
	LIST_INIT(&loop->late);
	LIST_INIT(&loop->ends);
	loop->late_timer.fn = on_late;
	loop->late_timer.arg = loop;
	sigemptyset(&loop->signals);
	return loop;
}

static void
bury(struct loop *loop)
{
	struct loop_watch *watch;

	while ((watch = SLIST_FIRST(&loop->dead)) != NULL) {
		SLIST_REMOVE_HEAD(&loop->dead, dead);
		free(watch);
	}
}

void
loop_free(struct loop *loop)
{
	struct loop_end *end;

	if (!loop)
		return;
	while ((end = LIST_FIRST(&loop->ends)) != NULL)
		end->fn(end->arg);
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

/* Tell the kernel; false with errno set. */
static bool
arm(struct loop_watch *watch, int operation)
{
	int epoll_fd = watch->loop->epoll_fd;
	struct epoll_event event = { .events = to_epoll(watch->events) };

	event.data.ptr = watch;
	if (epoll_ctl(epoll_fd, operation, watch->fd, &event) == 0)
		return true;
	/*
	 * a library may have closed the descriptor, and got its number for a
	 * new one
	 */
	return operation == EPOLL_CTL_MOD && errno == ENOENT &&
	       epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0;
}

static void
add_late(struct loop_watch *watch)
{
	struct loop *loop = watch->loop;

	if (LIST_EMPTY(&loop->late))
		loop_timer_set(loop, &loop->late_timer, AGAIN_MS);
	watch->is_late = true;
	LIST_INSERT_HEAD(&loop->late, watch, late);
}

static void
take_late(struct loop_watch *watch)
{
	LIST_REMOVE(watch, late);
	watch->is_late = false;
}

static void
on_late(void *arg)
{
	struct loop *loop = arg;
	struct loop_watch *watch, *next;

	for (watch = LIST_FIRST(&loop->late); watch != NULL; watch = next) {
		next = LIST_NEXT(watch, late);
		if (arm(watch, EPOLL_CTL_MOD))
			take_late(watch);
	}
	if (!LIST_EMPTY(&loop->late))
		loop_timer_set(loop, &loop->late_timer, AGAIN_MS);
}

/* Tell the kernel, or try again later: each request has its own time limit. */
static void
arm_or_wait(struct loop_watch *watch, int operation)
{
	if (watch->is_late || arm(watch, operation))
		return;
	log_warn("cannot watch descriptor %d, trying again", watch->fd);
	add_late(watch);
}

/*
 * The kernel must forget the watch before it is freed.  If the kernel does not
 * know it, all is well.  Another failure should not happen, and is tried again.
 */
static void
disarm(const struct loop_watch *watch)
{
	int epoll_fd = watch->loop->epoll_fd;
	int tries;

	for (tries = 0; tries < TRIES; tries++)
		if (epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL) == 0 ||
		    errno == ENOENT || errno == EBADF)
			return;
}

struct loop_watch *
loop_watch(struct loop *loop, int fd, int events, loop_watch_fn *fn, void *arg)
{
	struct loop_watch *watch = xcalloc(1, sizeof(*watch));

	watch->loop = loop;
	watch->fd = fd;
	watch->events = events;
	watch->fn = fn;
	watch->arg = arg;
	arm_or_wait(watch, EPOLL_CTL_ADD);
	return watch;
}

void
loop_watch_set(struct loop_watch *watch, int events)
{
	if (watch->events == events)
		return;
	watch->events = events;
	arm_or_wait(watch, EPOLL_CTL_MOD);
}

void
loop_unwatch(struct loop_watch *watch)
{
	if (!watch)
		return;
	if (watch->is_late)
		take_late(watch);
	disarm(watch);
	watch->fn = NULL;
	SLIST_INSERT_HEAD(&watch->loop->dead, watch, dead);
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
	TAILQ_INSERT_TAIL(&loop->calls, call, link);
}

void
loop_cancel(struct loop *loop, struct loop_call *call)
{
	if (!call->queued)
		return;
	TAILQ_REMOVE(&loop->calls, call, link);
	call->queued = false;
}

void
loop_at_end(struct loop *loop, struct loop_end *end)
{
	LIST_INSERT_HEAD(&loop->ends, end, link);
}

void
loop_not_at_end(struct loop_end *end)
{
	LIST_REMOVE(end, link);
}

static void
on_signal(void *arg, int events)
{
	struct loop *loop = arg;
	struct signalfd_siginfo info;
	const struct signal_call *call;

	(void)events;
	if (read(loop->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	call = &loop->signal_calls[info.ssi_signo];
	call->fn(call->arg, (int)info.ssi_signo);
}

void
loop_signal(struct loop *loop, int signal, loop_signal_fn *fn, void *arg)
{
	assert(signal > 0 && signal < NSIG);
	loop->signal_calls[signal] = (struct signal_call){ fn, arg };
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

	while ((call = TAILQ_FIRST(&loop->calls)) != NULL && !loop->stopped) {
		loop_cancel(loop, call);
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

/* Count an ended pass. */
static void
note_pass(struct loop *loop, struct mono now)
{
	struct loop_lag *lag = &loop->lag;
	int64_t ms = mono_diff_ms(now, loop->woke);

	lag->passes++;
	lag->over_10_ms += ms > 10;
	lag->over_100_ms += ms > 100;
	lag->over_1000_ms += ms > 1000;
	if (ms > lag->longest_ms)
		lag->longest_ms = ms;
}

static int
wait_ms(const struct loop *loop, struct mono now)
{
	const struct timer *timer = timers_first(&loop->timers);
	int64_t ms;

	if (!timer)
		return -1;
	ms = mono_diff_ms(timer->due, now);
	return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* One failed wait is no reason to end, and timers go on.  Many in a row are. */
static void
wait_failed(struct loop *loop)
{
	if (++loop->failed_waits == FAILED_WAITS)
		fatal("cannot wait for events");
	log_warn("cannot wait for events, trying again");
	(void)poll(NULL, 0, AGAIN_MS);
}

static void
run_events(struct loop *loop)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	struct mono now = mono_now();
	struct loop_watch *watch;
	int i, count;

	note_pass(loop, now);
	count = epoll_wait(
	    loop->epoll_fd, events, EVENTS_PER_WAIT, wait_ms(loop, now));
	loop->woke = mono_now();
	if (count < 0 && errno != EINTR)
		wait_failed(loop);
	else
		loop->failed_waits = 0;
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
	loop->woke = mono_now();
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

struct loop_lag
loop_lag(const struct loop *loop)
{
	return loop->lag;
}
