/* backoff.h - how long to pause before another try, after a failure. */
#ifndef RUNTIME_BACKOFF_H
#define RUNTIME_BACKOFF_H

#include <stdint.h>

/*
 * Milliseconds to pause after `failures` failures in a row, 1 or more.  The
 * pause begins at a tenth of a second, doubles each time, and ends at ten
 * seconds.  Chance makes it up to a quarter longer or shorter.
 */
int64_t backoff_ms(int failures);

#endif
