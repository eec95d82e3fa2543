#include "runtime/descriptors.h"

#include <sys/resource.h>

#include "common/log.h"

/*
 * The limit at the start and the raised one; both the same if raising failed.
 */
static struct rlimit given, ours;

static void
set_limit(const struct rlimit *limit)
{
	if (given.rlim_cur != ours.rlim_cur)
		(void)setrlimit(RLIMIT_NOFILE, limit);
}

void
descriptors_raise(void)
{
	if (getrlimit(RLIMIT_NOFILE, &given) < 0) {
		log_warn("cannot see how many descriptors there may be");
		return;
	}
	ours = given;
	ours.rlim_cur = given.rlim_max;
	if (given.rlim_cur == ours.rlim_cur ||
	    setrlimit(RLIMIT_NOFILE, &ours) == 0)
		return;
	log_warn("cannot have more than %llu descriptors",
	    (unsigned long long)given.rlim_cur);
	ours = given;
}

int64_t
descriptors_most(void)
{
	return ours.rlim_cur < INT64_MAX ? (int64_t)ours.rlim_cur : INT64_MAX;
}

void
descriptors_lend(void)
{
	set_limit(&given);
}

void
descriptors_take_back(void)
{
	set_limit(&ours);
}
