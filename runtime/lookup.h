/*
 * lookup.h - the addresses of a host, found while the loop goes on.
 */
#ifndef RUNTIME_LOOKUP_H
#define RUNTIME_LOOKUP_H

#include <stddef.h>

struct error;
struct lookup;
struct loop;

/*
 * Look `name` up; `done` comes from the loop.  NULL with `err` set if it
 * could not even begin.
 */
struct lookup *lookup_start(struct loop *loop, const char *name,
    void (*done)(void *arg), void *arg, struct error *err);

/*
 * Once done: address `i` in figures, for the caller to free(), in the order
 * in which they are to be tried; NULL behind the last one, and with `err` set
 * if there are none.
 */
char *lookup_address(const struct lookup *lookup, size_t i, struct error *err);

/* No call comes after it.  NULL is allowed. */
void lookup_free(struct lookup *lookup);

#endif
