/*
 * descriptors.h - how many descriptors this program may have.
 *
 * Its soft limit is raised to the hard limit.  Programs that it runs get the
 * limit that it was started with.  Some of them go through all numbers up to
 * the limit, and some cannot use descriptors beyond 1023.
 */
#ifndef RUNTIME_DESCRIPTORS_H
#define RUNTIME_DESCRIPTORS_H

#include <stdint.h>

/* Call this once, at the start. */
void descriptors_raise(void);

/* How many descriptors there may be; 0: not known. */
int64_t descriptors_most(void);

/*
 * A program that is started between these two calls inherits our first limit.
 * This thread must open nothing else between them.
 */
void descriptors_lend(void);
void descriptors_take_back(void);

#endif
