/*
 * schedule.c - the commands for schedules.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "schedules",
	  .summary = "List the schedules, and their next times",
	  .options = "workflow",
	  .role = VIEWER,
	  .sql = "select name, workflow, coalesce(cron, 'every ' || every) as times, timezone, state, next_at, last_at,"
		 "       last_state, last_instance_id, last_reason, waiting, overlap, catchup, fired, params, set_by"
		 "  from wf.schedule_v where :workflow is null or workflow = :workflow order by name",
	  .shown = "name workflow times timezone state next_at last_at last_state waiting",
	  .none = "no schedules" },

	{ .pattern = "schedule show NAME",
	  .summary = "Show the last times of a schedule, and the next ones",
	  .options = "limit",
	  .role = VIEWER,
	  .sql = "(select nominal_at as time, until_at as until, state, instance_id, reason as note"
		 "   from wf.firing_v where schedule = :name order by nominal_at desc limit coalesce(:limit, 5))"
		 " union all"
		 " (select nominal_at, null, 'next', null, concat_ws(', ', local_time, nullif(note, ''),"
		 "         case when begins_at <> nominal_at then 'begins at ' || begins_at end)"
		 "    from wf.schedule_next(:name, coalesce(:limit, 5)))"
		 " order by 1",
	  .none = "it has fired nothing, and has no next time",
	  .detail = "It shows five last and five next times, or as many as --limit says. In the row of a\n"
		    "missed time, the column until says until when all were missed." },

	{ .pattern = "schedule set NAME WORKFLOW",
	  .summary = "Start a workflow at times, or change when",
	  .options = "cron every timezone params catchup overlap jitter start end count priority reason",
	  .role = AUTHOR,
	  .sql = "select :name as name, wf.schedule_set(:name, :workflow, :cron, :every, coalesce(:timezone, 'UTC'),"
		 "       coalesce(:params, '{}'), coalesce(:catchup, 1), coalesce(:overlap, 'allow'),"
		 "       coalesce(:jitter, '0'), :start, :end, :count, coalesce(:priority, 0), :reason) as next_at",
	  .detail = "Give --cron or --every. A cron expression has 5 fields, or 6 with seconds first, and\n"
		    "names times of the clock of --timezone (default: UTC). --overlap says what happens\n"
		    "while an instance of it is under way: allow (default), skip, queue, replace or coalesce." },

	{ .pattern = "schedule pause NAME",
	  .summary = "Let a schedule start nothing until it is resumed",
	  .options = "reason",
	  .role = OPERATOR,
	  .sql = "select :name as name, answer, detail from wf.schedule_pause(:name, :reason)" },

	{ .pattern = "schedule resume NAME",
	  .summary = "Let a paused schedule go on with its next time",
	  .options = "reason",
	  .role = OPERATOR,
	  .sql = "select :name as name, answer, detail from wf.schedule_resume(:name, :reason)" },

	{ .pattern = "schedule fire NAME",
	  .summary = "Start an instance of a schedule at once",
	  .options = "params reason",
	  .role = OPERATOR,
	  .sql = "select :name as name, wf.schedule_fire(:name, :params, :reason) as instance_id" },

	{ .pattern = "schedule backfill NAME",
	  .summary = "Start instances for times that are past",
	  .options = "from to reason",
	  .role = OPERATOR,
	  .sql = "select :name as name, wf.schedule_backfill(:name, :from, :to, :reason) as times",
	  .detail = "For the times from --from until before --to that it has not fired." },

	{ .pattern = "schedule remove NAME",
	  .summary = "Remove a schedule; its instances go on",
	  .options = "reason",
	  .role = AUTHOR,
	  .sql = "select :name as name, 'removed' as answer from wf.schedule_remove(:name, :reason)" },

	/* clang-format on */
};

const struct command_group command_schedule = GROUP("schedules", rows);
