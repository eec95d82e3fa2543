/*
 * scope.h - which names can be read where.
 */
#ifndef LANG_SCOPE_H
#define LANG_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct checker;
struct name;
struct type;

enum binding_state {
	BINDING_VISIBLE,  /* can be read here */
	BINDING_BESIDE,   /* bound by a parallel branch */
	BINDING_INNER,    /* bound in a loop that has ended */
	BINDING_HIDDEN,   /* bound by the other alternative */
	BINDING_GIVEN_UP, /* bound by the body of the try around this catch */
	BINDING_STATES,
};

struct binding {
	struct binding *next;      /* in the list of its scope and state */
	struct binding *next_same; /* with the same hash */
	const char *name;
	const char *tree_name; /* its name in the tree; NULL: the same */
	const struct type *type;
	size_t start;        /* where it is bound */
	int depth;           /* of the scope that binds it */
	struct scope *scope; /* the scope whose list it is in */
	enum binding_state state;
};

/* A workflow, or a loop's body or a branch of a race within it. */
struct scope {
	struct scope *outer;
	int depth;
	struct binding *lists[BINDING_STATES]; /* latest first */
};

enum { NAMES_SIZE = 4096 };

/* All bindings of a workflow, hashed by their names. */
struct names {
	struct binding *buckets[NAMES_SIZE];
};

/* The branch that is being checked, and the parallel around it. */
struct beside {
	struct beside *outer;
	size_t start, end;
	size_t branch_start, branch_end;
	/* the branches are not parallel: they are the calls of an atomic */
	bool is_atomic;
};

/* Enter and leave a loop's body, or enter a branch of a race. */
void scope_enter(struct checker *checker, struct scope *scope);
void scope_leave(struct checker *checker);

/*
 * Leave a branch of a race: its names become names of the scope around the
 * race.
 */
struct binding *scope_leave_branch(struct checker *checker);

/* Bind a name in the innermost scope; a name that is taken is reported. */
void scope_bind(
    struct checker *checker, const struct name *name, const struct type *type);

/* The same without checking whether the name is taken. */
void scope_add(
    struct checker *checker, const struct name *name, const struct type *type);

/* Bind the name of a list comprehension, for the expressions in it. */
void scope_push_local(
    struct checker *checker, const struct name *name, struct binding *local);
void scope_pop_local(struct checker *checker);

/*
 * The binding of a name that can be read here; NULL, and reported, if there is
 * none.
 */
const struct binding *scope_find(
    struct checker *checker, const char *name, size_t start);

/* Remove the bindings since `mark` (the head of the visible ones then) from the
 * visible ones. */
struct binding *scope_take(struct checker *checker, struct binding *mark);

/* Put bindings that were taken into the list of another state. */
void scope_give(
    struct checker *checker, enum binding_state state, struct binding *list);

/*
 * The catches and the finally of a try see the names of its body, which may be
 * null there. scope_show_end removes them: all since `mark`, the head of the
 * list then.
 */
void scope_show(struct checker *checker, enum binding_state state,
    const struct binding *list);
void scope_show_end(struct checker *checker, struct binding *mark);

/* Steps after the branches can read the names that the branches bound since
 * `mark`, the head of the list beside then. */
void scope_join(struct checker *checker, struct binding *mark);

/*
 * Make the names of two alternatives visible.  One of the two was taken, so a
 * name that only one of them binds may be null.
 */
void scope_merge(
    struct checker *checker, struct binding *one, struct binding *other);

#endif
