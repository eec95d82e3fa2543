/* random.h - random numbers from the system. */
#ifndef RUNTIME_RANDOM_H
#define RUNTIME_RANDOM_H

#include <stdint.h>

/* `ms`, give or take a quarter, so that drivers do not act in step. */
int64_t random_jitter(int64_t ms);

enum {
	RANDOM_NONCE = 33, /* 128 bits in hexadecimal, and the NUL */
};

/* Make a nonce that nobody can guess. */
void random_nonce(char nonce[RANDOM_NONCE]);

#endif
