/*
 * share.h - the driver's slots, shared by its workspaces.
 *
 * While several workspaces want more slots than there are, each may have as
 * many as the others.  An idle workspace lends its slots to the others, except
 * half of its share: work that comes to it begins at once, however long the
 * requests of the others last.
 */
#ifndef DRIVER_SHARE_H
#define DRIVER_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

/* All that share; with `{ .config = … }` there is nobody yet. */
struct shares {
	const struct config *config; /* says how many slots there are */
	struct share *first;
	size_t count;
};

/* The slots of one workspace. */
struct share {
	struct shares *shares;
	int64_t used;
	bool hungry;  /* it has more to do than it may */
	bool leaving; /* it takes no more */

	/* Others leave more to it than before. */
	void (*changed)(void *arg);
	void *arg;
	struct share *next;
};

/* It stays where it is until share_leave(). */
void share_join(struct share *share, struct shares *shares);
void share_leave(struct share *share);

/* How it stands now; whoever is hungry is told if that leaves more to them. */
void share_set(struct share *share, int64_t used, bool hungry, bool leaving);

/* How many slots are for one of `turns`, if all were free. */
int64_t share_most(const struct share *share, int64_t turns);

/* How many it may take now, at most those of one of `turns`. */
int64_t share_want(const struct share *share, int64_t turns);

#endif
