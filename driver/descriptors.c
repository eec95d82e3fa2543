#include "driver/descriptors.h"

#include <sys/resource.h>

#include "common/log.h"
#include "driver/config.h"

enum {
	PER_SLOT = 4, /* a program: three pipes and its number */
	OTHERS = 64,  /* the log, look-ups, shared connections, ... */
};

/* What we were given and what we have made of it; the same if it failed. */
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

void
descriptors_check(const struct config *config)
{
	int64_t logins = 1 + (int64_t)config->sql_roles.count;
	int64_t sessions =
	    config->connections + logins * config->sql_connections;
	int64_t most = OTHERS + PER_SLOT * config->slots +
	               (int64_t)config_workspaces(config) * sessions;

	if (ours.rlim_cur == 0 || ours.rlim_cur >= (rlim_t)most)
		return;
	log_warnx("slots is %lld: this may take %lld descriptors, and this "
	          "program may have no more than %llu; raise its hard limit "
	          "(LimitNOFILE in systemd, ulimit -H -n in a shell), or lower "
	          "slots",
	    (long long)config->slots, (long long)most,
	    (unsigned long long)ours.rlim_cur);
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
