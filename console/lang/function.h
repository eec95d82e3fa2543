/*
 * function.h - the functions of expressions, as `wf.function` lists them.
 */
#ifndef LANG_FUNCTION_H
#define LANG_FUNCTION_H

struct arena;
struct type;

enum { FUNCTION_ARGS_MAX = 3 };

struct function {
	const char *name;
	int least;        /* arguments that must be given */
	const char *args; /* one letter for each, see function.c */
	char result;
};

/* The function called `name`, or NULL. */
const struct function *function_find(const char *name);

/* Function number `i`, or NULL after the last. */
const struct function *function_at(int i);

/* The type that argument `i` must have, for messages. */
const char *function_arg_text(const struct function *function, int i);

/* Whether a value of that type may be argument `i`. */
int function_accepts(
    const struct function *function, int i, const struct type *type);

/* The type of the result, given the type of the first argument (or NULL). */
const struct type *function_result(struct arena *arena,
    const struct function *function, const struct type *first);

#endif
