/*
 * policy.h - the table of policies: what each policy takes, and what it
 * reaches.  The checker, the emitter and the hints of both read it.  A new
 * policy is a row, and a check if its values need one.
 */
#ifndef LANG_POLICY_H
#define LANG_POLICY_H

#include <stdbool.h>

#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/type.h"

struct checker;

/* Where a policy is written.  A task type has defaults for its tasks. */
enum policy_place {
	POLICIES_OF_TYPE,
	POLICIES_OF_TASK,
	POLICIES_OF_BLOCK, /* also of a call of a workflow */
	POLICIES_OF_WORKFLOW,
	POLICIES_OF_UNKNOWN /* a call of an unknown name */
};

enum { POLICIES = 16, POLICY_ARGS_MAX = 10 };

struct policy_rule {
	const char *name;
	enum {
		REACH_NODE, /* the node at which it is written */
		REACH_TASKS /* every task inside; the nearest wins */
	} reach;
	/* `each name(…)`: every task inside gets it as its own policy */
	bool each;
	/* a block, a call of a workflow and a workflow may have it, too */
	bool of_blocks;
	/* it takes arguments that it does not name from the one around it */
	bool by_argument;
	/* its check folds the other arguments into the first one */
	bool folded;
	/*
	 * In the tree, a policy is the value of its one argument, or of the
	 * first one if the others are folded into it.  Otherwise it is an
	 * object.
	 */
	struct policy_param {
		const char *name;
		enum type_kind type;
		bool required;
		double least, most;       /* of a number; both 0: any */
		const char *const *words; /* one of these words; or NULL */
	} params[POLICY_ARGS_MAX];
	/* a check that the table cannot express; or NULL */
	void (*check)(struct checker *checker, const struct policy *policy,
	    enum policy_place place);
};

/* In the order of the tree. */
extern const struct policy_rule policy_rules[POLICIES];

/* NULL: the policy does not exist, or the language gets it later. */
const struct policy_rule *policy_rule(const char *name);

/* Whether a policy of this name is planned, but can not be used yet. */
bool policy_comes_later(const char *name);

/*
 * What to write instead of a policy that comes later, or that has this name in
 * another system; or NULL.
 */
const char *policy_instead(const char *name);

/* The known name that is most similar to an unknown one; or NULL. */
const char *policy_nearest(const char *name);

/*
 * Find a policy that is given to each task inside (or is not, if `each` is
 * false); or NULL.
 */
const struct policy *policy_find(
    const struct policy *policies, const char *name, bool each);

/*
 * The policy undo of the list, or NULL. It has a block, and no row in the
 * table.
 */
const struct policy *policy_undo(const struct policy *policies);

/* The value of an argument of a checked policy; NULL: it is not given. */
struct expr *policy_arg(const struct policy *policy, const char *name);

/* check_policy.c: the checks of the table */
void check_idempotent(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_on_failure(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_rate(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_requires(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_tags(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_start_if(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_key(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_schedule(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_weight(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_retry(struct checker *checker, const struct policy *policy,
    enum policy_place place);
void check_timeout(struct checker *checker, const struct policy *policy,
    enum policy_place place);

#endif
