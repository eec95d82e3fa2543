/*
 * mono.h - moments of the monotonic clock, for deadlines and durations.
 *
 * A struct and not a number, so that it can't be taken for wall time.
 */
#ifndef COMMON_MONO_H
#define COMMON_MONO_H

#include <stdbool.h>
#include <stdint.h>

struct mono {
	int64_t ns;
};

struct mono mono_now(void);

/*
 * `ms` may be negative.  If the moment is too far away to be written, the
 * result is the last one, or the first one, that can be.
 */
struct mono mono_add_ms(struct mono moment, int64_t ms);

/*
 * Milliseconds from `from` to `to`, rounded away from zero: a sleep of that
 * length never ends before `to`.
 */
int64_t mono_diff_ms(struct mono to, struct mono from);

/* Whether `a` comes before `b`. */
bool mono_before(struct mono a, struct mono b);

#endif
