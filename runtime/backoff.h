/*
 * backoff.h - how long to pause before what has failed is tried again.
 */
#ifndef RUNTIME_BACKOFF_H
#define RUNTIME_BACKOFF_H

#include <stdint.h>

/*
 * Milliseconds to pause after `failures` failures in a row, 1 or more: a tenth
 * of a second, twice as long each time, ten seconds at most, and a quarter more
 * or less by chance.
 */
int64_t backoff_ms(int failures);

#endif
