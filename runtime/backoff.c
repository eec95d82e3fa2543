#include "runtime/backoff.h"

#include "runtime/random.h"

enum {
	FIRST_MS = 100,
	LONGEST_MS = 10000,
};

int64_t
backoff_ms(int failures)
{
	int64_t ms = FIRST_MS;
	int i;

	for (i = 1; i < failures && ms < LONGEST_MS; i++)
		ms *= 2;
	return random_jitter(ms < LONGEST_MS ? ms : LONGEST_MS);
}
