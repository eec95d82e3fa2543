#include "driver/pace.h"

#include "driver/config/config.h"
#include "driver/poll_window.h"
#include "runtime/backoff.h"
#include "runtime/loop.h"
#include "runtime/random.h"

enum {
	OUTPUT_MS = 1000,
	RING_MS = 1000 / PACE_RINGS,
};

void
pace_hurry(struct pace *pace)
{
	pace->due = true;
	pace->changed(pace->arg);
}

static void
on_poll_due(void *arg)
{
	pace_hurry(arg);
}

static void
on_pause_over(void *arg)
{
	struct pace *pace = arg;

	pace->paused = false;
	pace_hurry(pace);
}

/* One more ring may be followed.  If a ring has waited, follow that one. */
static void
on_ring_over(void *arg)
{
	struct pace *pace = arg;

	if (pace->rung)
		pace_hurry(pace);
	else
		pace->rings--;
	pace->rung = false;
	if (pace->rings > 0)
		loop_timer_set(pace->loop, &pace->ring_timer, RING_MS);
}

void
pace_ring(struct pace *pace)
{
	if (pace->rings == PACE_RINGS) {
		pace->rung = true;
		return;
	}
	if (pace->rings++ == 0)
		loop_timer_set(pace->loop, &pace->ring_timer, RING_MS);
	pace_hurry(pace);
}

static void
on_output_due(void *arg)
{
	struct pace *pace = arg;

	pace->output = true;
	pace->changed(pace->arg);
}

void
pace_output(struct pace *pace, bool is_any)
{
	if (is_any && !pace->output && pace->output_timer.place == 0)
		loop_timer_set(pace->loop, &pace->output_timer, OUTPUT_MS);
}

void
pace_room(struct pace *pace, bool is_any)
{
	if (is_any && !pace->due && pace->room_timer.place == 0)
		loop_timer_set(
		    pace->loop, &pace->room_timer, pace->config->poll_min_ms);
}

void
pace_init(struct pace *pace, struct loop *loop, const struct config *config,
    void (*changed)(void *arg), void *arg)
{
	*pace = (struct pace){
		.loop = loop,
		.config = config,
		.idle_ms = config->poll_min_ms,
		.changed = changed,
		.arg = arg,
	};
	pace->poll_timer.fn = on_poll_due;
	pace->poll_timer.arg = pace;
	pace->pause_timer.fn = on_pause_over;
	pace->pause_timer.arg = pace;
	pace->output_timer.fn = on_output_due;
	pace->output_timer.arg = pace;
	pace->ring_timer.fn = on_ring_over;
	pace->ring_timer.arg = pace;
	pace->room_timer.fn = on_poll_due;
	pace->room_timer.arg = pace;
}

void
pace_release(struct pace *pace)
{
	loop_timer_stop(pace->loop, &pace->poll_timer);
	loop_timer_stop(pace->loop, &pace->pause_timer);
	loop_timer_stop(pace->loop, &pace->output_timer);
	loop_timer_stop(pace->loop, &pace->ring_timer);
	loop_timer_stop(pace->loop, &pace->room_timer);
}

void
pace_begin(struct pace *pace)
{
	pace->due = false;
	pace->output = false;
	loop_timer_stop(pace->loop, &pace->room_timer);
	/* if the poll takes long, another session polls */
	loop_timer_set(
	    pace->loop, &pace->poll_timer, pace->config->poll_max_ms);
}

static int64_t
shorter(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static int64_t
longer(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

/* How long to wait before the next poll. */
static int64_t
wait_ms(struct pace *pace, bool found, const struct rest *rest)
{
	int64_t longest = pace->config->poll_max_ms;

	/* drivers that wait for each other come back one by one */
	if (rest->busy)
		return random_jitter(shorter(rest->ms, longest));
	pace->idle_ms = found ? pace->config->poll_min_ms
	                      : shorter(pace->idle_ms * 2, longest);
	/* a poll that filled the slots left little to be found at once */
	return shorter(pace->hungry
	                   ? longer(rest->ms, pace->config->poll_min_ms)
	                   : rest->ms,
	    pace->idle_ms);
}

void
pace_end(struct pace *pace, const struct load *taken, const struct load *want,
    const struct rest *rest)
{
	bool found = taken->slots + taken->instant > 0;

	pace->failures = 0;
	/* a poll that wanted no slots tells nothing about the rest */
	if (want->slots > 0)
		pace->hungry = taken->slots >= want->slots;
	loop_timer_set(
	    pace->loop, &pace->poll_timer, wait_ms(pace, found, rest));
}

void
pace_fail(struct pace *pace)
{
	if (pace->paused)
		return;
	pace->failures++;
	pace->paused = true;
	loop_timer_set(
	    pace->loop, &pace->pause_timer, backoff_ms(pace->failures));
}

void
pace_resume(struct pace *pace)
{
	pace->failures = 0;
	pace->paused = false;
	loop_timer_stop(pace->loop, &pace->pause_timer);
	loop_timer_stop(pace->loop, &pace->output_timer);
}
