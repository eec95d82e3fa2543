#include "common/mono.h"

#include <time.h>

enum {
	NS_PER_MS = 1000 * 1000,
};

struct mono
mono_now(void)
{
	struct timespec now;

	/* Cannot fail: the clock exists wherever this was compiled. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct mono){
		.ns = (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec,
	};
}

struct mono
mono_add_ms(struct mono moment, int64_t ms)
{
	int64_t ns;

	if (__builtin_mul_overflow(ms, (int64_t)NS_PER_MS, &ns) ||
	    __builtin_add_overflow(moment.ns, ns, &ns))
		ns = ms < 0 ? INT64_MIN : INT64_MAX;
	return (struct mono){ .ns = ns };
}

int64_t
mono_diff_ms(struct mono to, struct mono from)
{
	int64_t ns;

	if (__builtin_sub_overflow(to.ns, from.ns, &ns))
		ns = mono_before(to, from) ? INT64_MIN : INT64_MAX;
	return ns / NS_PER_MS + (ns % NS_PER_MS > 0) - (ns % NS_PER_MS < 0);
}

bool
mono_before(struct mono a, struct mono b)
{
	return a.ns < b.ns;
}
