#include "driver/kept.h"

#include "common/mono.h"
#include "driver/loop.h"
#include "driver/request.h"

enum {
	FIRST_PAUSE_MS = 5, /* others hold an instance for about so long */
	LONGEST_PAUSE_MS = 1000,
	BUSY_TIMES = 3, /* before it waits for its instance */
	WAIT_MS = 2000, /* after one waited in vain: it delays the session */
};

/* Turns fail with it: only alone does it show whether that is its doing. */
static bool
is_suspect(const struct request *request)
{
	return request_failures_alone(request) >= 0;
}

/* How long it is kept: four times as long each time. */
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
	struct kept *kept = arg;
	struct mono now = mono_now();
	struct request *request, *next;

	for (request = kept->list->first; request != NULL; request = next) {
		next = request->next;
		if (is_suspect(request) || mono_before(now, request->again))
			continue;
		request_list_remove(request);
		request_list_add(kept->due, request);
		request->again = (struct mono){ 0 };
	}
	kept_end_turn(kept);
	kept->changed(kept->arg);
}

static void
on_wait_due(void *arg)
{
	struct kept *kept = arg;

	kept->waits = true;
	kept->changed(kept->arg);
}

void
kept_init(struct kept *kept, struct loop *loop, struct request_list *list,
    struct request_list *due, void (*changed)(void *arg), void *arg)
{
	*kept = (struct kept){
		.loop = loop,
		.list = list,
		.due = due,
		.waits = true,
		.timer = { .fn = on_again, .arg = kept },
		.wait_timer = { .fn = on_wait_due, .arg = kept },
		.changed = changed,
		.arg = arg,
	};
}

void
kept_release(struct kept *kept)
{
	loop_timer_stop(kept->loop, &kept->timer);
	loop_timer_stop(kept->loop, &kept->wait_timer);
}

void
kept_end_turn(struct kept *kept)
{
	struct mono now = mono_now();
	struct request *request;
	int64_t ms, first = LONGEST_PAUSE_MS;

	for (request = kept->list->first; request != NULL;
	     request = request->next) {
		if (is_suspect(request))
			continue;
		if (request->again.ns == 0)
			request->again = mono_add_ms(now, pause_ms(request));
		ms = mono_diff_ms(request->again, now);
		first = ms < first ? ms : first;
	}
	if (kept->list->count > 0)
		loop_timer_set(kept->loop, &kept->timer, first > 0 ? first : 0);
}

struct request *
kept_alone(struct kept *kept)
{
	struct request *request;

	for (request = kept->list->first; request != NULL;
	     request = request->next) {
		if (is_suspect(request))
			return request;
		if (kept->waits && request->busy >= BUSY_TIMES) {
			kept->waits = false;
			loop_timer_set(kept->loop, &kept->wait_timer, WAIT_MS);
			return request;
		}
	}
	return NULL;
}

void
kept_waited(struct kept *kept)
{
	loop_timer_stop(kept->loop, &kept->wait_timer);
	kept->waits = true;
}

bool
kept_goes_along(const struct request *request, const struct request *other)
{
	return other == request ||
	       (!is_suspect(request) && !is_suspect(other) &&
	           other->task.instance_id == request->task.instance_id);
}
