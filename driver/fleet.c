#include "driver/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/scheduler.h"
#include "driver/share.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"

/* A workspace that we work for, or are about to leave. */
struct member {
	struct fleet *fleet;
	struct config_workspace workspace; /* its strings are ours */
	struct transports *transports;
	struct scheduler *scheduler;
	bool leaving; /* the configuration no longer names it */
	bool over;
	struct member *next;
};

struct fleet {
	struct loop *loop;
	const struct config *config;
	const struct transports *transports;
	struct shares shares;
	struct member *first;
	struct loop_call tidy_call;
	int exit_code;
};

static void
member_free(struct member *member)
{
	scheduler_free(member->scheduler);
	transports_detach(member->transports);
	free(member->workspace.name);
	free(member->workspace.connection);
	free(member->workspace.sql_connection);
	free(member);
}

/* Forget the members that have ended.  After the last one, stop the loop. */
static void
tidy(void *arg)
{
	struct fleet *fleet = arg;
	struct member **place = &fleet->first, *member;

	while ((member = *place) != NULL) {
		if (!member->over) {
			place = &member->next;
			continue;
		}
		if (scheduler_exit_code(member->scheduler) != 0)
			fleet->exit_code = 1;
		*place = member->next;
		member_free(member);
	}
	if (fleet->first == NULL)
		loop_stop(fleet->loop);
}

static void
on_ended(void *arg)
{
	struct member *member = arg;

	member->over = true;
	loop_later(member->fleet->loop, &member->fleet->tidy_call);
}

static void
add(struct fleet *fleet, const struct config_workspace *workspace)
{
	struct member *member = xcalloc(1, sizeof(*member));
	bool named = workspace->name[0] != '\0';

	member->fleet = fleet;
	member->workspace.name = xstrdup(workspace->name);
	member->workspace.connection = xstrdup(workspace->connection);
	member->workspace.sql_connection = xstrdup(workspace->sql_connection);
	member->transports =
	    transports_attach(fleet->transports, &member->workspace);
	member->scheduler = scheduler_new(&(struct scheduler_options){
	    .loop = fleet->loop,
	    .config = fleet->config,
	    .transports = member->transports,
	    .conninfo = member->workspace.connection,
	    .label = member->workspace.name,
	    .shares = &fleet->shares,
	    .persists = named,
	    .ended = on_ended,
	    .arg = member,
	});
	member->next = fleet->first;
	fleet->first = member;
}

static bool
is_same(const struct config_workspace *a, const struct config_workspace *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       strcmp(a->connection, b->connection) == 0 &&
	       strcmp(a->sql_connection, b->sql_connection) == 0;
}

/* The member that works for the workspace; NULL if there is none. */
static struct member *
find(const struct fleet *fleet, const struct config_workspace *workspace)
{
	struct member *member = fleet->first;

	while (member != NULL &&
	       (member->leaving || !is_same(&member->workspace, workspace)))
		member = member->next;
	return member;
}

static bool
is_configured(const struct fleet *fleet, const struct member *member)
{
	struct config_workspace workspace;
	size_t i;

	for (i = 0; i < config_workspaces(fleet->config); i++) {
		workspace = config_workspace(fleet->config, i);
		if (is_same(&member->workspace, &workspace))
			return true;
	}
	return false;
}

static void
leave(struct member *member)
{
	LOG_IN(LOG_LEVEL_INFO, member->workspace.name,
	    "no longer in the configuration");
	member->leaving = true;
	scheduler_stop(member->scheduler);
}

void
fleet_reload(struct fleet *fleet, bool tell)
{
	struct config_workspace workspace;
	struct member *member;
	size_t i;

	for (member = fleet->first; member != NULL; member = member->next)
		if (member->leaving)
			continue;
		else if (!is_configured(fleet, member))
			leave(member);
		else if (tell)
			scheduler_register(member->scheduler);
	for (i = 0; i < config_workspaces(fleet->config); i++) {
		workspace = config_workspace(fleet->config, i);
		if (find(fleet, &workspace) == NULL)
			add(fleet, &workspace);
	}
}

struct fleet *
fleet_new(struct loop *loop, const struct config *config,
    const struct transports *transports)
{
	struct fleet *fleet = xcalloc(1, sizeof(*fleet));

	fleet->loop = loop;
	fleet->config = config;
	fleet->transports = transports;
	fleet->shares.config = config;
	fleet->tidy_call.fn = tidy;
	fleet->tidy_call.arg = fleet;
	fleet_reload(fleet, false);
	return fleet;
}

void
fleet_free(struct fleet *fleet)
{
	struct member *member;

	if (fleet == NULL)
		return;
	while ((member = fleet->first) != NULL) {
		fleet->first = member->next;
		member_free(member);
	}
	loop_cancel(fleet->loop, &fleet->tidy_call);
	free(fleet);
}

void
fleet_stop(struct fleet *fleet)
{
	struct member *member;

	for (member = fleet->first; member != NULL; member = member->next)
		scheduler_stop(member->scheduler);
}

void
fleet_tell_counters(struct fleet *fleet)
{
	struct member *member;

	for (member = fleet->first; member != NULL; member = member->next)
		scheduler_tell_counters(member->scheduler);
}

void
fleet_status(const struct fleet *fleet, struct buf *line)
{
	const struct member *member;

	for (member = fleet->first; member != NULL; member = member->next) {
		scheduler_status(member->scheduler, line);
		buf_adds(line, member->next != NULL ? "; " : "");
	}
}

int
fleet_exit_code(const struct fleet *fleet)
{
	return fleet->exit_code;
}
