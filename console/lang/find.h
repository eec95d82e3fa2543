/*
 * find.h - where in a workflow a name is bound, for messages.
 */
#ifndef LANG_FIND_H
#define LANG_FIND_H

#include <stdbool.h>
#include <stddef.h>

struct process;

struct found {
	size_t start;
	/* in the body of a loop; loop_start and loop_end are its range */
	bool loop;
	bool yields; /* the loop has a yield, so it is not a forall */
	size_t loop_start, loop_end;
	bool undo; /* in an undo; undo_start and undo_end are its range */
	size_t undo_start, undo_end;
};

/* Look for the first binding of `name` in a process. */
bool find_binding(
    const struct process *process, const char *name, struct found *found);

#endif
