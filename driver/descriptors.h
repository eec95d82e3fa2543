/*
 * descriptors.h - how many descriptors this program may have.
 *
 * Its soft limit becomes the hard one.  Programs that it runs have the limit
 * that it was started with: some of them go through all numbers up to it, and
 * some cannot use those beyond 1023.
 */
#ifndef DRIVER_DESCRIPTORS_H
#define DRIVER_DESCRIPTORS_H

#include <stdint.h>

struct config;

/* To be called once, at the start. */
void descriptors_raise(void);

/* Warn if all that `config` allows at once may need more than there are. */
void descriptors_check(const struct config *config);

/*
 * While a program is started it inherits the limit that we were given; between
 * the two nothing else may be opened by this thread.
 */
void descriptors_lend(void);
void descriptors_take_back(void);

#endif
