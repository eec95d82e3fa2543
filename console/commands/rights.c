/*
 * rights.c - the commands for grants and quotas.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "driver grants",
	  .summary = "List the queues and capabilities that only some drivers may serve",
	  .role = VIEWER,
	  .sql = "select role, to_json(queues) as queues, to_json(capabilities) as capabilities, granted_at, granted_by"
		 "  from wf.driver_grant_v order by role",
	  .none = "nothing is granted: every driver may serve everything" },

	{ .pattern = "driver grant ROLE QUEUES CAPABILITIES",
	  .summary = "Grant queues and capabilities to the drivers of a login",
	  .role = ADMIN,
	  .sql = "select :role as role, :queues as queues, :capabilities as capabilities"
		 "  from wf.driver_grant_set(:role, coalesce(string_to_array(nullif(:queues, 'none'), ','), '{}'),"
		 "           coalesce(string_to_array(nullif(:capabilities, 'none'), ','), '{}'))",
	  .detail = "QUEUES and CAPABILITIES are lists with commas, or none. Once a grant names a queue or a\n"
		    "capability, only drivers with such a grant serve it, and they serve no others. none\n"
		    "means all that no grant names. ROLE is a login, or a role of logins; a login has the\n"
		    "grants of all its roles." },

	{ .pattern = "driver revoke ROLE",
	  .summary = "Take back what was granted to the drivers of a login",
	  .role = ADMIN,
	  .sql = "select :role as role, 'revoked' as answer from wf.driver_grant_remove(:role)" },

	{ .pattern = "sql grants",
	  .summary = "List the roles that SQL tasks of workflows run as",
	  .role = VIEWER,
	  .sql = "select workflow, role, granted_at, granted_by from wf.sql_grant_v order by workflow",
	  .none = "nothing is granted: all SQL tasks run as the login of the driver's sql_connection" },

	{ .pattern = "sql grant ROLE WORKFLOW",
	  .summary = "Let the SQL tasks of a workflow run as a role of their own",
	  .role = ADMIN,
	  .sql = "select :workflow as workflow, :role as role, wf.sql_grant_set(:workflow, :role) as version",
	  .detail = "The grant is for the version that is shown: read this version first. It is also for the\n"
		    "versions that members of ROLE install from then on; nobody else may install the\n"
		    "workflow. ROLE runs no SQL tasks of other workflows. Drivers need ROLE in sql_roles." },

	{ .pattern = "sql revoke WORKFLOW",
	  .summary = "Let the SQL tasks of a workflow run as those of all others do",
	  .role = ADMIN,
	  .sql = "select :workflow as workflow, 'revoked' as answer from wf.sql_grant_remove(:workflow)" },

	{ .pattern = "workflow grants",
	  .summary = "List who may start which workflows",
	  .role = VIEWER,
	  .sql = "select role, coalesce(array_to_string(workflows, ','), 'all') as workflows, granted_at, granted_by"
		 "  from wf.workflow_grant_v order by role",
	  .none = "nothing is granted: nobody but the owner and superusers may start a workflow" },

	{ .pattern = "workflow grant ROLE WORKFLOWS",
	  .summary = "Let a login start workflows",
	  .options = "reason",
	  .role = ADMIN,
	  .sql = "select :role as role, :workflows as workflows"
		 "  from wf.workflow_grant_set(:role, string_to_array(nullif(:workflows, 'all'), ','), :reason)",
	  .detail = "A list with commas, or all. It takes the place of what the role was granted before.\n"
		    "ROLE is a login, or a role of logins, which have the grants of all their roles." },

	{ .pattern = "workflow revoke ROLE",
	  .summary = "Take back which workflows a login may start",
	  .options = "reason",
	  .role = ADMIN,
	  .sql = "select :role as role, 'revoked' as answer from wf.workflow_grant_remove(:role, :reason)" },

	{ .pattern = "quotas",
	  .summary = "List the quotas of roles, and what is used of them",
	  .role = VIEWER,
	  .sql = "select role, per_minute, started, running, under_way, priority, processes, set_at, set_by"
		 "  from wf.quota_v order by role",
	  .shown = "role per_minute started running under_way priority processes",
	  .none = "there are no quotas" },

	{ .pattern = "quota set ROLE PER_MINUTE RUNNING CEILING PROCESSES",
	  .summary = "Limit what the members of a role may start",
	  .options = "reason",
	  .role = ADMIN,
	  .sql = "select :role as role, :per_minute as per_minute, :running as running, :ceiling as priority,"
		 "       :processes as processes"
		 "  from wf.quota_set(:role, nullif(:per_minute, 'none')::int, nullif(:running, 'none')::int,"
		 "           nullif(:ceiling, 'none')::int, nullif(:processes, 'none')::int, :reason)",
	  .detail = "Four numbers, each of them may be none: how many instances they may start in a\n"
		    "minute of the clock, how many may be under way, the highest priority, and to how\n"
		    "many processes an instance may come. All members of ROLE share the first two; a\n"
		    "login is bound by the quotas of all its roles." },

	{ .pattern = "quota remove ROLE",
	  .summary = "Remove the quota of a role",
	  .options = "reason",
	  .role = ADMIN,
	  .sql = "select :role as role, 'removed' as answer from wf.quota_remove(:role, :reason)" },

	/* clang-format on */
};

const struct command_group command_rights = GROUP("rights", rows);
