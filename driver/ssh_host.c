#include "driver/ssh_host.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/ssh_pool.h"

enum {
	CALM_MS = 1000, /* without new connections after one that failed */
	EASE_MS = 1000, /* then one session more on each, after a refusal */
};

static void
on_calm(void *arg)
{
	struct ssh_host *host = arg;

	host->changed(host->arg);
}

/* It may have refused since it was slow to see that others had ended. */
static void
on_ease(void *arg)
{
	struct ssh_host *host = arg;

	if (++host->allowed < host->config->ssh.sessions)
		loop_timer_set(host->loop, &host->ease_timer, EASE_MS);
	host->changed(host->arg);
}

struct ssh_host *
ssh_host_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, void (*changed)(void *arg), void *arg)
{
	struct ssh_host *host = xcalloc(1, sizeof(*host));

	host->loop = loop;
	host->config = config;
	host->target.host = xstrdup(target->host);
	host->target.user = target->user ? xstrdup(target->user) : NULL;
	host->target.port = target->port;
	host->end = &host->first;
	host->begun = 1;
	host->calm_timer.fn = on_calm;
	host->calm_timer.arg = host;
	host->ease_timer.fn = on_ease;
	host->ease_timer.arg = host;
	host->changed = changed;
	host->arg = arg;
	return host;
}

void
ssh_host_free(struct ssh_host *host)
{
	loop_timer_stop(host->loop, &host->calm_timer);
	loop_timer_stop(host->loop, &host->ease_timer);
	free((char *)host->target.host);
	free((char *)host->target.user);
	free(host);
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
ssh_host_is(const struct ssh_host *host, const struct ssh_target *target)
{
	return same(host->target.host, target->host) &&
	       same(host->target.user, target->user) &&
	       host->target.port == target->port;
}

void
ssh_host_wait(struct ssh_host *host, struct ssh_seat *seat)
{
	seat->waiting = true;
	seat->next = NULL;
	*host->end = seat;
	host->end = &seat->next;
	host->waiting++;
}

void
ssh_host_take(struct ssh_host *host, struct ssh_seat *seat)
{
	struct ssh_seat **place = &host->first;

	while (*place != seat)
		place = &(*place)->next;
	*place = seat->next;
	if (host->end == &seat->next)
		host->end = place;
	host->waiting--;
	seat->waiting = false;
}

static void
fail(struct ssh_host *host, const char *reason, bool only_tried)
{
	struct ssh_seat *seat;
	int64_t count = host->waiting;

	while (count-- > 0 && (seat = host->first) != NULL) {
		ssh_host_take(host, seat);
		if (only_tried && seat->tried != host->begun) {
			ssh_host_wait(host, seat);
			continue;
		}
		seat->host = NULL;
		host->seated--;
		seat->failed(seat->arg, reason);
	}
}

void
ssh_host_fail(struct ssh_host *host, const char *reason)
{
	fail(host, reason, false);
}

void
ssh_host_fail_tried(struct ssh_host *host, const char *reason)
{
	fail(host, reason, true);
}

void
ssh_host_calm(struct ssh_host *host)
{
	loop_timer_set(host->loop, &host->calm_timer, CALM_MS);
}

bool
ssh_host_is_calm(const struct ssh_host *host)
{
	return host->calm_timer.place != 0;
}

int64_t
ssh_host_room(const struct ssh_host *host)
{
	int64_t sessions = host->config->ssh.sessions;

	return host->allowed > 0 && host->allowed < sessions ? host->allowed
	                                                     : sessions;
}

void
ssh_host_refused(struct ssh_host *host, int64_t sessions)
{
	if (host->fewest == 0 || sessions < host->fewest) {
		log_info("ssh %s: takes no more than %lld sessions at once",
		    host->target.host, (long long)sessions);
		host->fewest = sessions;
	}
	host->allowed = sessions;
	loop_timer_set(host->loop, &host->ease_timer, EASE_MS);
}
