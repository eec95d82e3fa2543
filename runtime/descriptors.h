/*
 * descriptors.h - how many descriptors this program may have.
 *
 * Its soft limit becomes the hard one.  Programs that it runs have the limit
 * that it was started with: some of them go through all numbers up to it, and
 * some cannot use those beyond 1023.
 */
#ifndef RUNTIME_DESCRIPTORS_H
#define RUNTIME_DESCRIPTORS_H

#include <stdint.h>

/* To be called once, at the start. */
void descriptors_raise(void);

/* How many there may be; 0: nobody knows. */
int64_t descriptors_most(void);

/*
 * While a program is started it inherits the limit that we were given; between
 * the two nothing else may be opened by this thread.
 */
void descriptors_lend(void);
void descriptors_take_back(void);

#endif
