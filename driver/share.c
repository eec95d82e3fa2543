#include "driver/share.h"

#include "driver/config/config.h"

void
share_join(struct share *share, struct shares *shares)
{
	share->shares = shares;
	share->next = shares->first;
	shares->first = share;
	shares->count++;
}

/* A share needs fewer slots than before. */
static void
tell_hungry(const struct share *share)
{
	struct share *other;

	for (other = share->shares->first; other != NULL; other = other->next)
		if (other != share && other->hungry)
			other->changed(other->arg);
}

void
share_leave(struct share *share)
{
	struct share **place = &share->shares->first;

	while (*place != share)
		place = &(*place)->next;
	*place = share->next;
	share->shares->count--;
	tell_hungry(share);
}

void
share_set(struct share *share, int64_t used, bool hungry, bool leaving)
{
	bool eased = used < share->used || (share->hungry && !hungry) ||
	             (leaving && !share->leaving);

	share->used = used;
	share->hungry = hungry;
	share->leaving = leaving;
	if (eased)
		tell_hungry(share);
}

/* How many slots the other workspaces must leave to this one, used or not. */
static int64_t
kept(const struct share *share, int64_t equal)
{
	int64_t least = share->leaving  ? 0
	                : share->hungry ? equal
	                                : (equal + 1) / 2;

	return share->used > least ? share->used : least;
}

int64_t
share_most(const struct share *share, int64_t turns)
{
	return (share->shares->config->slots + turns - 1) / turns;
}

int64_t
share_want(const struct share *share, int64_t turns)
{
	int64_t slots = share->shares->config->slots;
	int64_t equal = slots / (int64_t)share->shares->count;
	int64_t most = share_most(share, turns);
	int64_t room = slots - share->used;
	const struct share *other;

	for (other = share->shares->first; other != NULL; other = other->next)
		if (other != share)
			room -= kept(other, equal);
	if (room < 0)
		return 0;
	return room < most ? room : most;
}
