/*
 * narrow.h - which values can't be null, because of a condition.
 *
 * Names are bound once and values never change.  So after `x.y != null` was
 * true, x.y is not null.
 */
#ifndef LANG_NARROW_H
#define LANG_NARROW_H

#include <stdbool.h>

struct checker;
struct expr;

/* Names, and fields of them, that are known not to be null. */
struct known {
	struct known *next;
	const struct expr *path;
};

/*
 * Note what is not null if the condition has this truth value.  Pass the
 * returned value to narrow_end() where this no longer holds.
 */
struct known *narrow(
    struct checker *checker, struct expr *condition, bool truth);
void narrow_end(struct checker *checker, struct known *before);

/* The type of a name or field whose type was just found, without null if it is
 * known not to be null. */
void narrow_type(struct checker *checker, struct expr *expr);

#endif
