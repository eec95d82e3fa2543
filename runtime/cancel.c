#include "runtime/cancel.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "runtime/loop.h"
#include "runtime/thread_call.h"

/* The data of the thread. */
struct sending {
	struct pg_cancel *cancel;
	struct error err;
};

struct cancel {
	struct loop *loop;
	struct thread_call *thread;
	struct sending *sending; /* owned by the thread call */
	struct loop_call call;
	void (*done)(void *arg);
	void *arg;
};

static void
run(void *data)
{
	struct sending *sending = data;

	pg_cancel_send(sending->cancel, &sending->err);
}

static void
release(void *data)
{
	struct sending *sending = data;

	pg_cancel_free(sending->cancel);
	error_release(&sending->err);
	free(sending);
}

static const struct thread_call_type call = { .run = run, .release = release };

static void
on_sent(void *arg)
{
	struct cancel *cancel = arg;

	if (cancel->sending->err.message != NULL)
		log_warnx("%s", cancel->sending->err.message);
	cancel->done(cancel->arg);
}

struct cancel *
cancel_send(
    struct loop *loop, const struct pg *pg, void (*done)(void *arg), void *arg)
{
	struct cancel *cancel = xcalloc(1, sizeof(*cancel));
	struct error err = { 0 };

	cancel->loop = loop;
	cancel->done = done;
	cancel->arg = arg;
	cancel->call.fn = done;
	cancel->call.arg = arg;
	cancel->sending = xcalloc(1, sizeof(*cancel->sending));
	cancel->sending->cancel = pg_cancel_new(pg);
	cancel->thread = thread_call_start(
	    loop, &call, cancel->sending, on_sent, cancel, &err);
	if (cancel->thread == NULL) {
		log_warnx("cannot cancel: %s", err.message);
		error_release(&err);
		loop_later(loop, &cancel->call);
	}
	return cancel;
}

void
cancel_free(struct cancel *cancel)
{
	if (cancel == NULL)
		return;
	thread_call_free(cancel->thread);
	loop_cancel(cancel->loop, &cancel->call);
	free(cancel);
}
