#include "driver/pulse.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/sqlstate.h"
#include "driver/workspace.h"
#include "runtime/loop.h"
#include "runtime/session.h"

struct pulse {
	struct loop *loop;
	struct session_options options;
	void (*lost)(void *arg, int64_t driver);
	void *arg;
	struct session *session; /* NULL: not needed */
	struct loop_call beat_call;
	int64_t driver; /* the driver that is alive */
	bool due;       /* a sign of life is not sent yet */
};

static void
send(void *arg)
{
	struct pulse *pulse = arg;

	if (!pulse->due || pulse->session == NULL ||
	    !session_is_ready(pulse->session))
		return;
	workspace_heartbeat(pulse->session, pulse->driver);
	session_go(pulse->session);
	pulse->due = false;
}

static void
on_ready(void *arg)
{
	struct pulse *pulse = arg;

	workspace_open(pulse->session, false);
	session_go(pulse->session);
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	struct pulse *pulse = arg;

	if (answer->err != NULL &&
	    sqlstate_is(answer->err->sqlstate, SQLSTATE_DRIVER_GONE)) {
		/* this may be another server than that of the other sessions */
		session_avoid(pulse->session, "it does not know this driver");
		pulse->lost(pulse->arg, pulse->driver);
	}
	loop_later(pulse->loop, &pulse->beat_call);
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	const struct pulse *pulse = arg;

	(void)failures;
	LOG_IN(LOG_LEVEL_DEBUG, pulse->options.label,
	    "no connection for a sign of life: %s", err->message);
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
};

struct pulse *
pulse_new(struct loop *loop, const struct session_options *options,
    void (*lost)(void *arg, int64_t driver), void *arg)
{
	struct pulse *pulse = xcalloc(1, sizeof(*pulse));

	pulse->loop = loop;
	pulse->options = *options;
	pulse->lost = lost;
	pulse->arg = arg;
	pulse->beat_call.fn = send;
	pulse->beat_call.arg = pulse;
	return pulse;
}

void
pulse_free(struct pulse *pulse)
{
	if (pulse == NULL)
		return;
	pulse_rest(pulse);
	loop_cancel(pulse->loop, &pulse->beat_call);
	free(pulse);
}

void
pulse_beat(struct pulse *pulse, int64_t driver)
{
	pulse->driver = driver;
	pulse->due = true;
	if (pulse->session == NULL) {
		LOG_IN(LOG_LEVEL_DEBUG, pulse->options.label,
		    "all connections are busy: another one for a sign of life");
		pulse->session =
		    session_new(pulse->loop, &pulse->options, &events, pulse);
	}
	send(pulse);
}

void
pulse_rest(struct pulse *pulse)
{
	session_free(pulse->session);
	pulse->session = NULL;
	pulse->due = false;
}
