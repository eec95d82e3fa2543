/*
 * operating.c - the commands for groups, drivers, the engine and the workspace.
 */
#include "console/commands/group.h"

/* clang-format off */

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define KNOWN_VERSION TEXT(PGWF_SCHEMA_VERSION)

/* The verbs on the workspace as a whole. */
#define WORKSPACE(word, about, function) \
	{ .pattern = "workspace " word, \
	  .summary = (about), \
	  .needs = NEEDS_DATABASE, \
	  .role = ADMIN, \
	  .run = (function) }

static const struct command rows[] = {

	{ .pattern = "group set NAME MAX",
	  .summary = "Let at most MAX tasks of a group run at once",
	  .role = OPERATOR,
	  .sql = "select :name as name, :max as max,"
		 "       case when exists (select from wf.group_v g where g.name = :name) then 'changed' else 'made a new group' end"
		 "           as answer"
		 "  from wf.group_set(:name, nullif(:max, 'none')::int)",
	  .detail = "0 lets nothing of it start, none lifts the limit. What runs goes on; a task that\n"
		    "gives the group a max overwrites it." },

	{ .pattern = "engine status",
	  .summary = "Say whether requests are handed out",
	  .role = VIEWER,
	  .sql = "select state, since, actor, client, reason, in_flight, schema_version from wf.engine_v",
	  .is_record = true },

	{ .pattern = "engine pause",
	  .summary = "Hand out nothing, of any instance",
	  .options = "reason dry-run",
	  .role = OPERATOR,
	  .sql = "select answer, detail from wf.engine_pause(:reason)",
	  .run = cmd_engine,
	  .limit_s = ACTING_S,
	  .detail = "What drivers hold they finish and report: `engine status` counts it. Timers\n"
		    "go on, and so do starts and what operators do." },

	{ .pattern = "engine resume",
	  .summary = "Hand out what is ready again",
	  .options = "reason dry-run",
	  .role = OPERATOR,
	  .sql = "select answer, detail from wf.engine_resume(:reason)",
	  .run = cmd_engine,
	  .limit_s = ACTING_S },

	{ .pattern = "engine history",
	  .summary = "Show when it was paused and resumed: who, why",
	  .role = VIEWER,
	  .sql = "select seq, at, event, actor, client, reason from wf.engine_event_v order by seq",
	  .shown = "at event actor client reason",
	  .none = "it has never been paused" },

	{ .pattern = "driver drain DRIVER",
	  .summary = "Let a driver finish and take no more",
	  .role = OPERATOR,
	  .sql = "select d.driver_id, d.name, 'draining' as answer"
		 "  from wf.driver_v d cross join lateral wf.drain(d.driver_id)"
		 " where d.state in ('live', 'draining')"
		 "   and (d.driver_id::text = :driver or d.name = :driver)"
		 " order by d.driver_id",
	  .missing = "there is no live driver :DRIVER",
	  .detail = "DRIVER is its number or its name, as `wf-console drivers` lists them; a name\n"
		    "means all that bear it. What it has begun it finishes; it does not exit." },

	{ .pattern = "settings",
	  .summary = "List the settings of the workspace",
	  .role = VIEWER,
	  .sql = "select * from wf.setting_v order by name" },

	{ .pattern = "setting set NAME NUMBER",
	  .summary = "Change a setting of the workspace",
	  .role = ADMIN,
	  .sql = "select :name as name, :number as value from wf.setting_set(:name, :number)" },

	{ .pattern = "fsck",
	  .summary = "Check that the workspace is sound; rows are faults",
	  .role = VIEWER,
	  .sql = "select class, check_name, instance_id, process_id, detail from wf.fsck()",
	  .none = "sound: every check passed",
	  .limit_s = NO_LIMIT,
	  .rows_are_bad = true },

	{ .pattern = "purge [TARGET...]",
	  .destroys = true,
	  .summary = "Delete instances that have ended, with their history",
	  .options = "id state workflow tag older-than reason dry-run",
	  .role = ADMIN,
	  .needs = NEEDS_NOTHING,
	  .sql = "select instance_id, answer, detail"
		 "  from wf.purge(:selector, :reason, :batch::int, :after::bigint)",
	  .run = cmd_purge,
	  .limit_s = NO_LIMIT,
	  .none = "nothing to purge",
	  .detail = "Nothing brings the instances back. --older-than counts from their end. purge deletes\n"
		    "batches of 1000 instances, oldest first, and waits for nobody. If you stop it midway,\n"
		    "the batches before stay deleted. With the setting keep_days the workspace purges by\n"
		    "itself." },

	{ .pattern = "purges",
	  .summary = "Show what was purged: who, when, why, how many",
	  .role = VIEWER,
	  .sql = "select seq, at, last_at, actor, client, reason, target, instances from wf.purge_v order by seq",
	  .shown = "at last_at actor reason target instances",
	  .none = "nothing has been purged" },

	{ .pattern = "audit",
	  .summary = "Show who did what: verbs, settings, installations",
	  .options = "since by verb instance limit",
	  .role = ADMIN,
	  .sql = "select number, at, login, role, client, verb, targets, refused, instances, processes, reason,"
		 "       arguments, xid::text as xid, digest"
		 "  from wf.audit_list(:since, :by, :verb, :instance::bigint, coalesce(:limit, 50)::int)",
	  .shown = "number at login role verb targets instances reason arguments",
	  .none = "nothing of that was done",
	  .detail = "The last rows, in their order. A verb is called as in this console (abort, engine\n"
		    "pause, setting set). What was rolled back was not done. Times are the server's.\n"
		    "Columns besides, with -o: the address, how many were refused, the processes, the\n"
		    "transaction, the digest." },

	WORKSPACE("install", "Make a workspace in the database", cmd_workspace_install),

	{ .pattern = "workspace status",
	  .summary = "Show where the workspace is and what is in it",
	  .needs = NEEDS_DATABASE, /* of a version that we can't work with, too */
	  .role = VIEWER,
	  .sql = "select current_database() as database, current_setting('server_version') as server,"
		 "       wf.schema_version() as schema_version, " KNOWN_VERSION " as known_version,"
		 "       (select count(*) from wf.workflow_v) as workflows,"
		 "       (select count(*) from wf.instance_v where state not in ('END', 'ABORTED')) as running,"
		 "       (select count(*) from wf.instance_v where state not in ('END', 'ABORTED') and failed > 0) as need_attention,"
		 "       (select count(*) from wf.driver_v where state = 'live') as drivers",
	  .is_record = true },

	WORKSPACE("upgrade", "Bring the workspace to the schema of this program", cmd_workspace_upgrade),

	WORKSPACE("uninstall", "Remove the workspace with all that is in it", cmd_workspace_uninstall),
};

const struct command_group command_operating = GROUP("operating", rows);
