/*
 * names.h - the names in a process as it was written, before they are checked.
 */
#ifndef LANG_NAMES_H
#define LANG_NAMES_H

#include <stddef.h>

struct name;
struct process;

/* They are called for each name; either may be NULL. */
struct name_sink {
	void (*bound)(void *arg, const struct name *name);
	void (*read)(void *arg, const char *name, size_t start);
	void *arg;
};

/*
 * The names that a process binds for the steps after it, and those that it
 * reads, except for names that are bound only inside: the element of a loop,
 * the error of a catch.
 */
void names_of(const struct process *process, const struct name_sink *sink);

#endif
