/*
 * narrow.h - what a condition tells about null.
 *
 * Names are bound once and values never change, so where `x.y != null` was
 * found true, x.y is not null.
 */
#ifndef LANG_NARROW_H
#define LANG_NARROW_H

#include <stdbool.h>

struct checker;
struct expr;

/* Names, and fields of them, that are not null here. */
struct known {
	struct known *next;
	const struct expr *path;
};

/*
 * Take in what follows from the condition having that truth.  Give what this
 * returns to narrow_end() where it does not hold any more.
 */
struct known *narrow(
    struct checker *checker, struct expr *condition, bool truth);
void narrow_end(struct checker *checker, struct known *before);

/* The type of a name or field that was just found, without null if that is
 * known. */
void narrow_type(struct checker *checker, struct expr *expr);

#endif
