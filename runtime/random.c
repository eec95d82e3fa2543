#include "runtime/random.h"

#include <sys/random.h>

#include "common/log.h"

enum {
	TRIES = 10, /* the call works once the host is up */
};

static void
fill(void *data, size_t len)
{
	int i;

	for (i = 0; i < TRIES; i++)
		if (getrandom(data, len, 0) == (ssize_t)len)
			return;
	fatal("cannot get random bytes");
}

int64_t
random_jitter(int64_t ms)
{
	uint32_t chance;

	fill(&chance, sizeof(chance));
	return ms - ms / 4 + (int64_t)(chance % ((uint64_t)ms / 2 + 1));
}

void
random_nonce(char nonce[RANDOM_NONCE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[(RANDOM_NONCE - 1) / 2];
	size_t i;

	fill(bytes, sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++) {
		nonce[2 * i] = digits[bytes[i] >> 4];
		nonce[2 * i + 1] = digits[bytes[i] & 15];
	}
	nonce[2 * i] = '\0';
}
