#include "driver/deferred.h"

#include "common/mono.h"
#include "driver/request.h"
#include "runtime/loop.h"

enum {
	FIRST_PAUSE_MS = 5, /* about how long others hold an instance */
	LONGEST_PAUSE_MS = 1000,
	BUSY_TIMES = 3, /* then a report waits for its instance */
	WAIT_MS = 2000, /* after a vain wait, which delays the session */
};

/*
 * Turns have failed with it.  Only a turn with it alone shows whether it is the
 * cause.
 */
static bool
is_suspect(const struct request *request)
{
	return request_failures_alone(request) >= 0;
}

/* How long the report is kept: each time four times as long. */
static int64_t
pause_ms(const struct request *request)
{
	int64_t ms = FIRST_PAUSE_MS;
	int i;

	for (i = 1; i < request->busy && ms < LONGEST_PAUSE_MS; i++)
		ms *= 4;
	return ms < LONGEST_PAUSE_MS ? ms : LONGEST_PAUSE_MS;
}

static void
on_again(void *arg)
{
	struct deferred *deferred = arg;
	struct mono now = mono_now();
	struct request *request, *next;

	for (request = deferred->list->first; request != NULL; request = next) {
		next = request->next;
		if (is_suspect(request) || mono_before(now, request->again))
			continue;
		request_list_remove(request);
		request_list_add(deferred->due, request);
		request->again = (struct mono){ 0 };
	}
	deferred_end_turn(deferred);
	deferred->changed(deferred->arg);
}

static void
on_wait_due(void *arg)
{
	struct deferred *deferred = arg;

	deferred->waits = true;
	deferred->changed(deferred->arg);
}

void
deferred_init(struct deferred *deferred, struct loop *loop,
    struct request_list *list, struct request_list *due,
    void (*changed)(void *arg), void *arg)
{
	*deferred = (struct deferred){
		.loop = loop,
		.list = list,
		.due = due,
		.waits = true,
		.timer = { .fn = on_again, .arg = deferred },
		.wait_timer = { .fn = on_wait_due, .arg = deferred },
		.changed = changed,
		.arg = arg,
	};
}

void
deferred_release(struct deferred *deferred)
{
	loop_timer_stop(deferred->loop, &deferred->timer);
	loop_timer_stop(deferred->loop, &deferred->wait_timer);
}

void
deferred_end_turn(struct deferred *deferred)
{
	struct mono now = mono_now();
	struct request *request;
	int64_t ms, first = LONGEST_PAUSE_MS;

	for (request = deferred->list->first; request != NULL;
	     request = request->next) {
		if (is_suspect(request))
			continue;
		if (request->again.ns == 0)
			request->again = mono_add_ms(now, pause_ms(request));
		ms = mono_diff_ms(request->again, now);
		first = ms < first ? ms : first;
	}
	if (deferred->list->count > 0)
		loop_timer_set(
		    deferred->loop, &deferred->timer, first > 0 ? first : 0);
}

struct request *
deferred_alone(struct deferred *deferred)
{
	struct request *request;

	for (request = deferred->list->first; request != NULL;
	     request = request->next) {
		if (is_suspect(request))
			return request;
		if (deferred->waits && request->busy >= BUSY_TIMES) {
			deferred->waits = false;
			loop_timer_set(
			    deferred->loop, &deferred->wait_timer, WAIT_MS);
			return request;
		}
	}
	return NULL;
}

void
deferred_waited(struct deferred *deferred)
{
	loop_timer_stop(deferred->loop, &deferred->wait_timer);
	deferred->waits = true;
}

bool
deferred_goes_along(const struct request *request, const struct request *other)
{
	return other == request ||
	       (!is_suspect(request) && !is_suspect(other) &&
	           other->task.instance_id == request->task.instance_id);
}
