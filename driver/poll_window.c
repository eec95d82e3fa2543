#include "driver/poll_window.h"

enum {
	MOST_DOUBLED = 2,
	LARGE = 1 << 20,  /* bytes that a turn brought */
	MIXED_TURNS = 64, /* a third of a second if each is full */
};

static int64_t
less(int64_t most, int64_t due)
{
	return due < most ? most - due : 0;
}

struct load
poll_window_want(
    const struct poll_window *window, int64_t room, int64_t most, int64_t due)
{
	return (struct load){
		.slots = less(room, due),
		.instant = less(window->mixed > 0 ? (most + 1) / 2
		                                  : most << window->doubled,
		    due),
	};
}

void
poll_window_end(struct poll_window *window, const struct load *taken,
    const struct load *want)
{
	window->full = want->instant > 0 && taken->instant >= want->instant;
	if (taken->slots > 0)
		window->mixed = MIXED_TURNS;
	else if (window->mixed > 0)
		window->mixed--;
	if (want->instant == 0)
		return;
	if (taken->bytes > LARGE || window->mixed > 0)
		window->doubled = 0;
	else if (window->full && window->doubled < MOST_DOUBLED)
		window->doubled++;
	/* a turn that brings nothing may have been refused */
	else if (!window->full && window->doubled > 0 && taken->instant > 0)
		window->doubled--;
}
