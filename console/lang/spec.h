/*
 * spec.h - compiled trees (docs/spec.md), read back.
 */
#ifndef LANG_SPEC_H
#define LANG_SPEC_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct json;

/* Key number `i` of those under which a node has other nodes, or NULL. */
const char *spec_inner(size_t i);

/* The most members of an object that the compiler makes, other than `reads`. */
enum { SPEC_MEMBERS_MAX = 1000 };

/* Whether no object has more members than that. */
bool spec_is_bounded(const struct json *spec);

/* Whether two JSON values are equal. */
bool spec_equal(const struct json *a, const struct json *b);

/* Whether a workflow has the name `only`; NULL: any. */
bool spec_is_meant(const struct json *workflow, const char *only);

/* The parts of a file that are compared. */
struct spec_scope {
	const char *only; /* this workflow; NULL: all */
	/* the file's name for the other file's workflow `name` */
	const char *(*called)(const void *context, const char *name);
	const void *context;
};

/*
 * Compare a file with another one that has at least its workflows.  Each of
 * these must be the same there except for lines, and use the same task types.
 * Returns the path to the first difference, in `arena`, or NULL. `scope` NULL:
 * all, with the same names.
 */
const char *spec_difference(struct arena *arena, const struct json *spec,
    const struct json *other, const struct spec_scope *scope);

#endif
