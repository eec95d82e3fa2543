/*
 * value.h - the types of arguments: the texts that each accepts, and the SQL
 * type that is bound.
 */
#ifndef CONSOLE_VALUE_H
#define CONSOLE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* An instance, or a process of one. */
struct target {
	int64_t instance;
	int64_t process; /* 0: the instance itself */
};

/*
 * Whether `text` is a value of the type called `type` (len bytes), else an
 * error that names `what` was wrong and says what is expected.
 */
bool value_check(const char *type, size_t len, const char *text,
    const char *what, struct error *err);

/* The SQL type as which a value of the type is bound. */
const char *value_sql_type(const char *type);

/* "17" or "17/42"; false if the text is neither. */
bool target_parse(const char *text, struct target *target);

/* A whole number from 1 up; false if `text` is anything else. */
bool value_bigint(const char *text, int64_t *number);

#endif
