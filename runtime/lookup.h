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
 * Look `name` up; `done` comes from the loop.  NULL with `err` set if the
 * look-up could not even begin.
 */
struct lookup *lookup_start(struct loop *loop, const char *name,
    void (*done)(void *arg), void *arg, struct error *err);

/*
 * After `done`: address `i` as text in figures, for the caller to free(), in
 * the order in which to try them.  NULL behind the last one; also with `err`
 * set if there are none.
 */
char *lookup_address(const struct lookup *lookup, size_t i, struct error *err);

/* `done` does not come after this.  NULL is allowed. */
void lookup_free(struct lookup *lookup);

#endif
