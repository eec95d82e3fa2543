#include "runtime/timer.h"

#include <stdlib.h>

#include "common/mem.h"

/* The heap counts from 1: the children of k are 2k and 2k + 1. */
static void
put(struct timers *timers, size_t place, struct timer *timer)
{
	timers->heap[place] = timer;
	timer->place = place;
}

static void
sift_up(struct timers *timers, struct timer *timer)
{
	size_t k = timer->place;

	while (k > 1 && mono_before(timer->due, timers->heap[k / 2]->due)) {
		put(timers, k, timers->heap[k / 2]);
		k /= 2;
	}
	put(timers, k, timer);
}

static void
sift_down(struct timers *timers, struct timer *timer)
{
	size_t k = timer->place, child;

	while ((child = 2 * k) <= timers->count) {
		if (child < timers->count &&
		    mono_before(
		        timers->heap[child + 1]->due, timers->heap[child]->due))
			child++;
		if (!mono_before(timers->heap[child]->due, timer->due))
			break;
		put(timers, k, timers->heap[child]);
		k = child;
	}
	put(timers, k, timer);
}

void
timers_set(struct timers *timers, struct timer *timer)
{
	if (timer->place == 0) {
		if (timers->count + 1 >= timers->size) {
			timers->size = timers->size ? 2 * timers->size : 16;
			timers->heap = xreallocarray(timers->heap, timers->size,
			    sizeof(timers->heap[0]));
		}
		put(timers, ++timers->count, timer);
	}
	sift_up(timers, timer);
	sift_down(timers, timer);
}

void
timers_stop(struct timers *timers, struct timer *timer)
{
	struct timer *last;
	size_t place = timer->place;

	if (place == 0)
		return;
	timer->place = 0;
	last = timers->heap[timers->count--];
	if (last == timer)
		return;
	put(timers, place, last);
	sift_up(timers, last);
	sift_down(timers, last);
}

struct timer *
timers_first(const struct timers *timers)
{
	return timers->count ? timers->heap[1] : NULL;
}

void
timers_release(struct timers *timers)
{
	free(timers->heap);
	*timers = (struct timers){ 0 };
}
