/*
 * explaining.c - the commands that say why, when and who.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "explain TARGET",
	  .summary = "Say why something waits, or why it failed",
	  .role = VIEWER,
	  .sql = "select process_id, label, reason, detail, since"
		 "  from wf.explain(:instance, :process)",
	  .run = cmd_explain,
	  .whole = "label detail",
	  .none = "nothing holds it up",
	  .detail = "A task that a driver may take has no reason. Its note says, for each driver that serves\n"
		    "it, how many requests come first, and which requests take the driver's slots.\n" },

	{ .pattern = "stuck",
	  .summary = "List what can't go on unless someone does something",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, reason, processes, process_id, label, detail, since"
		 "  from wf.stuck()",
	  .shown = "instance_id workflow reason processes process_id label "
	           "detail since",
	  .whole = "label detail",
	  .none = "nothing waits for anybody",
	  .detail = "failed: retry, ignore, resolve or raise it. driver: start one that serves the\n"
		    "queue. group: give it places, with `group set`. suspended: resume it. paused:\n"
		    "`engine resume`." },

	{ .pattern = "groups",
	  .summary = "List concurrency groups: how many tasks hold a place or wait for one",
	  .role = VIEWER,
	  .sql = "select name, max, held, waiting from wf.group_v order by name",
	  .none = "no groups" },

	{ .pattern = "rates",
	  .summary = "List rates: how many tasks have begun, and wait until they may",
	  .role = VIEWER,
	  .sql = "select name, max, per::text as per, begun, granted, waiting, free_at from wf.rate_v order by name",
	  .none = "no rates" },

	{ .pattern = "drivers",
	  .summary = "List drivers",
	  .role = VIEWER,
	  .sql = "select driver_id, name, version, state, started_at, seen_at, slots, in_flight,"
		 "       to_json(transports) as transports, to_json(queues) as queues,"
		 "       to_json(capabilities) as capabilities"
		 "  from wf.driver_v order by state not in ('live', 'draining'), driver_id",
	  .shown = "driver_id name state seen_at slots in_flight transports queues capabilities",
	  .none = "no driver has been here" },

	{ .pattern = "driver status DRIVER",
	  .summary = "Show what a driver has counted",
	  .role = VIEWER,
	  .sql = "select c.driver_id, c.name, c.counter, c.value, c.counted_at"
		 "  from wf.driver_counter_v c join wf.driver_v d using (driver_id)"
		 " where c.driver_id::text = :driver or (c.name = :driver and d.state in ('live', 'draining'))"
		 " order by c.driver_id, c.counter collate \"C\"",
	  .shown = "driver_id counter value counted_at",
	  .missing = "there is no driver :DRIVER at work, or it has not counted anything yet",
	  .detail = "DRIVER is its number or its name, as `wf-console drivers` lists them; a name\n"
		    "means all at work that bear it. A driver writes its counters every ten seconds;\n"
		    "they count from the start of the program. docs/driver.md says what each means." },
};

const struct command_group command_explaining = GROUP("explaining", rows);
