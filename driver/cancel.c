#include "driver/cancel.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "driver/aside.h"
#include "driver/loop.h"

/* What the thread works on. */
struct sending {
	struct pg_cancel *cancel;
	struct error err;
};

struct cancel {
	struct loop *loop;
	struct aside *aside;
	struct sending *sending; /* the aside's */
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

static const struct aside_call call = { .run = run, .release = release };

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
	cancel->aside =
	    aside_start(loop, &call, cancel->sending, on_sent, cancel, &err);
	if (cancel->aside == NULL) {
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
	aside_free(cancel->aside);
	loop_cancel(cancel->loop, &cancel->call);
	free(cancel);
}
