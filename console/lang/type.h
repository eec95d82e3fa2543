/*
 * type.h - static types, and which type fits where.
 */
#ifndef LANG_TYPE_H
#define LANG_TYPE_H

#include <stdbool.h>

struct arena;
struct buf;

enum type_kind {
	TYPE_STRING,
	TYPE_INT,
	TYPE_NUMBER,
	TYPE_BOOL,
	TYPE_JSON,
	TYPE_LIST,
	TYPE_OBJECT,
	TYPE_DATE,
	TYPE_TIMESTAMP,
	TYPE_DURATION,
	TYPE_SECRET,
	TYPE_SQL,
	TYPE_SHELL,
	TYPE_NULL,  /* of the literal null */
	TYPE_ERROR, /* of a reported mistake; fits everywhere */
};

struct field {
	struct field *next;
	const char *name;
	const struct type *type;
};

/* Never changed once built; shared freely. */
struct type {
	enum type_kind kind;
	bool optional;              /* T? */
	bool closed;                /* an object whose fields are declared */
	const struct type *element; /* [T]; NULL: a list of anything */
	const struct field *fields;
};

/* The named types, by kind. */
extern const struct type type_basic[];

/* The type called `name`, or NULL. */
const struct type *type_named(const char *name);

/* The name of type number `i`, or NULL after the last. */
const char *type_name_at(int i);

const struct type *type_list(struct arena *arena, const struct type *element);
const struct type *type_object(struct arena *arena, const struct field *fields);
const struct type *type_optional(struct arena *arena, const struct type *type);
const struct type *type_required(struct arena *arena, const struct type *type);

/* The type of a field; NULL if the object declares none of that name. */
const struct type *type_field(const struct type *type, const char *name);

/* The narrowest type that fits both. */
const struct type *type_join(
    struct arena *arena, const struct type *a, const struct type *b);

/* How a value of one type becomes one of another (null apart). */
enum type_fit {
	FIT_SAME,    /* it is one */
	FIT_CHECK,   /* if it has that type at run time */
	FIT_CONVERT, /* by a conversion at run time */
	FIT_NEVER,
};

enum type_fit type_fit(const struct type *from, const struct type *to);

/* Whether a value may be null as far as its type says. */
bool type_may_be_null(const struct type *type);

/* int, number, or unknown until run time */
bool type_is_numeric(const struct type *type);

/* sql or shell, or one of them that may be null. */
bool type_is_code(const struct type *type);

/* As the language writes it. */
char *type_text(struct arena *arena, const struct type *type);

/* As the compiled tree writes it. */
void type_emit(struct buf *out, const struct type *type);

#endif
