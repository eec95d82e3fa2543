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
	return (struct mono){ .ns = moment.ns + ms * NS_PER_MS };
}

int64_t
mono_diff_ms(struct mono to, struct mono from)
{
	int64_t ns = to.ns - from.ns;
	int64_t round = ns > 0 ? NS_PER_MS - 1 : 1 - NS_PER_MS;

	return (ns + round) / NS_PER_MS;
}

bool
mono_before(struct mono a, struct mono b)
{
	return a.ns < b.ns;
}
