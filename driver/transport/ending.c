#include "driver/transport/ending.h"

#include "driver/transport/outcome.h"

void
ending_init(struct ending *ending, struct loop *loop, int64_t timeout_ms,
    void (*on_limit)(void *arg), void (*on_kill)(void *arg), void *arg)
{
	*ending = (struct ending){
		.loop = loop,
		.timeout_ms = timeout_ms,
		.limit_timer = { .fn = on_limit, .arg = arg },
		.kill_timer = { .fn = on_kill, .arg = arg },
	};
}

void
ending_begin(struct ending *ending)
{
	if (ending->timeout_ms > 0)
		loop_timer_set(
		    ending->loop, &ending->limit_timer, ending->timeout_ms);
}

void
ending_set(
    struct ending *ending, enum ending_cause cause, int64_t kill_after_ms)
{
	ending->cause = cause;
	loop_timer_set(ending->loop, &ending->kill_timer, kill_after_ms);
}

bool
ending_explain(const struct ending *ending, struct outcome *outcome,
    const char *what, const char *rest)
{
	switch (ending->cause) {
	case ENDING_NONE:
		return false;
	case ENDING_TIMEOUT:
		outcome_error(outcome, "timeout", NULL,
		    "%s did not end within %lld ms%s", what,
		    (long long)ending->timeout_ms, rest);
		break;
	case ENDING_CANCELLED:
		outcome_error(outcome, "cancelled", NULL, "%s was cancelled%s",
		    what, rest);
		break;
	}
	return true;
}

void
ending_forget(struct ending *ending)
{
	loop_timer_stop(ending->loop, &ending->limit_timer);
}

void
ending_release(struct ending *ending)
{
	loop_timer_stop(ending->loop, &ending->limit_timer);
	loop_timer_stop(ending->loop, &ending->kill_timer);
}
