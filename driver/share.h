/*
 * share.h - the driver's slots, shared by its workspaces.
 *
 * While several workspaces want more slots than there are, each may have as
 * many as the others.  An idle workspace lends its slots to the others, except
 * half of its share.  So its next requests begin at once, however long those of
 * the others last.
 */
#ifndef DRIVER_SHARE_H
#define DRIVER_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

/* The shares of all workspaces.  `{ .config = … }` is a list without shares. */
struct shares {
	const struct config *config; /* says how many slots there are */
	struct share *first;
	size_t count;
};

/* The slots of one workspace. */
struct share {
	struct shares *shares;
	int64_t used;
	bool hungry;  /* its workspace wants more slots than it has */
	bool leaving; /* its workspace takes no more requests */

	/* Called when the other workspaces leave more slots to this one. */
	void (*changed)(void *arg);
	void *arg;
	struct share *next;
};

/* The caller must not move or free the share before share_leave(). */
void share_join(struct share *share, struct shares *shares);
void share_leave(struct share *share);

/*
 * Set the state of a share.  If this leaves more slots to the other shares, the
 * function calls `changed` of each other share that is hungry.
 */
void share_set(struct share *share, int64_t used, bool hungry, bool leaving);

/* How many slots one of `turns` may ask for if all slots were free. */
int64_t share_most(const struct share *share, int64_t turns);

/* How many slots one of `turns` may ask for now. */
int64_t share_want(const struct share *share, int64_t turns);

#endif
