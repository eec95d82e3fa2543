/*
 * running.c - the commands that start instances, wait for them and list them.
 */
#include "console/commands/group.h"

/* clang-format off */

/* The instances that the options of list select, up to the limit. */
#define LISTED(count) \
	"wf.list(upper(:state::text)::text[], :workflow, :tag, :failed, " count ", :key, lower(:result), :since)"

/*
 * The sort key for --sort, if it has `sign` before it: a text, or else a
 * number.
 */
#define SORTED(sign, direction) \
	"case lower(:sort) when '" sign "workflow' then workflow when '" sign "state' then state" \
	" when '" sign "key' then key when '" sign "result' then result end " direction " nulls last, " \
	"case lower(:sort) when '" sign "instance' then instance_id when '" sign "elapsed' then elapsed_s" \
	" when '" sign "failed' then failed when '" sign "priority' then priority" \
	" when '" sign "progress' then progress when '" sign "started' then extract(epoch from started_at)" \
	" when '" sign "ended' then extract(epoch from ended_at) end " direction " nulls last"

static const struct command rows[] = {

	{ .pattern = "start WORKFLOW",
	  .summary = "Start an instance",
	  .options = START_OPTIONS " at before wait timeout unattended quiet",
	  .role = APP,
	  .run = cmd_start,
	  .limit_s = ACTING_S,
	  .detail = "A value is JSON if the parameter's type is not string, date, timestamp or\n"
		    "duration and it reads as JSON; else it is a string. With --wait the exit\n"
		    "code is the result: 0 success, 10 warning, 11 error, 12 aborted; after\n"
		    "--timeout 13, or 14 if it waits for an operator, which --unattended does\n"
		    "not wait for. A time that names no time zone is one of the session's (PGTZ)." },

	{ .pattern = "wait INSTANCE",
	  .summary = "Wait until an instance has ended",
	  .options = "timeout unattended",
	  .role = APP,
	  .sql = "select state from wf.result(:instance)",
	  .run = cmd_wait,
	  .detail = "The exit code is the result: 0 success, 10 warning, 11 error, 12 aborted; after\n"
		    "--timeout 13, or 14 if it waits for an operator. --unattended leaves with 14 when it\n"
		    "has waited 1.5 s for an operator. Without the two it waits as long as it takes. A\n"
		    "login without wf_viewer is told of an operator only while the instance is suspended." },

	{ .pattern = "run FILE [WORKFLOW]",
	  .summary = "Install a file, start it, follow it to its end",
	  .options = COMPILE_OPTIONS " " START_OPTIONS,
	  .role = AUTHOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_run,
	  .limit_s = ACTING_S,
	  .detail = "Without WORKFLOW: main, or the only one in the file. The exit code is the\n"
		    "result: 0 success, 10 warning, 11 error, 12 aborted; 1 if it can not go on\n"
		    "without an operator." },

	{ .pattern = "list",
	  .summary = "List instances, latest first",
	  .options = "state workflow failed tag key result since sort limit",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, version, key, state, result, failed, priority, tags, progress,"
		 "       started_at, ended_at, started_by, elapsed_s"
		 "  from (select i.instance_id, i.workflow, i.version, i.key, i.state, i.result, i.failed, i.priority,"
		 "               to_json(i.tags) as tags, i.progress, i.started_at, i.ended_at, i.started_by,"
		 "               case when i.state <> 'SCHEDULED' then"
		 "                round(extract(epoch from coalesce(i.ended_at, now()) - i.started_at), 3) end as elapsed_s"
		 "          from wf.instance_v i where i.instance_id = any (array(select " LISTED("coalesce(:limit, 50)") "))) l"
		 " order by " SORTED("", "asc") ", " SORTED("-", "desc") ", instance_id desc",
	  .shown = "instance_id workflow key state progress result failed started_at elapsed_s",
	  .none = "no instances",
	  .detail = "The latest 50, unless --limit says how many; --sort puts these into another order.\n"
		    "`wf-console count` counts all of them." },

	{ .pattern = "count",
	  .summary = "Count instances by workflow, state and result",
	  .options = "state workflow failed tag key result since",
	  .role = VIEWER,
	  .sql = "select workflow, state, result, count(*) as instances,"
		 "       count(*) filter (where failed > 0) as with_failures"
		 "  from wf.instance_v where instance_id = any (array(select " LISTED("2147483647") "))"
		 " group by workflow, state, result order by workflow, state, result",
	  .none = "no instances" },

	{ .pattern = "tree INSTANCE",
	  .summary = "Show the processes of an instance as a tree",
	  .options = "limit after follow",
	  .role = VIEWER,
	  .sql = "select process_id, parent_id, depth, label, kind, state, attempt, at, note, progress, elapsed_s"
		 "  from wf.tree(:instance, :rows::int, split_part(:after, '/', -1)::bigint)",
	  .run = cmd_tree,
	  .none = "nothing comes after it",
	  .detail = "--follow prints it again whenever it has changed, until the instance has ended or\n"
		    "waits for an operator. `wf-console watch 17` shows it live." },

	{ .pattern = "gantt INSTANCE",
	  .summary = "Show when the tasks of an instance ran, and how long",
	  .options = "as limit after",
	  .role = VIEWER,
	  .sql = "select process_id, label, kind, attempt, state, enabled_at, started_at, ended_at, progress,"
		 "       min(enabled_at) over () as from_at,"
		 "       extract(epoch from enabled_at - min(enabled_at) over ()) as enabled_s,"
		 "       extract(epoch from started_at - min(enabled_at) over ()) as started_s,"
		 "       extract(epoch from ended_at - min(enabled_at) over ()) as ended_s,"
		 "       extract(epoch from now() - min(enabled_at) over ()) as now_s"
		 "  from wf.gantt(:instance, :rows::int, split_part(:after, '/', -1)::bigint)"
		 "       with ordinality g order by g.ordinality",
	  .run = cmd_gantt,
	  .none = "no task of it has begun",
	  .detail = "A row for each attempt: the bar begins, light, when the task could begin, and is\n"
		    "full from its start to its end. With --as svg a picture is printed." },

	{ .pattern = "watch [INSTANCE]",
	  .summary = "Watch what runs, or the tree of an instance, live",
	  .role = VIEWER,
	  .run = cmd_watch,
	  .detail = "Arrows or j and k move, enter opens the chosen instance, b goes back, q quits.\n"
		    "Below stands why what is chosen does not go on." },

	{ .pattern = "show INSTANCE",
	  .summary = "Show all about an instance",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, version, key, state, result, failed, priority,"
		 "       to_json(tags) as tags, progress, started_at, ended_at, started_by,"
		 "       parent_id, parent_process_id, scheduled_at, expires_at, params, output, error"
		 "  from wf.instance_v where instance_id = :instance",
	  .missing = "there is no :INSTANCE",
	  .is_record = true },

	{ .pattern = "show PROCESS",
	  .summary = "Show all about a process of it",
	  .role = VIEWER,
	  .sql = "select instance_id, process_id, parent_id, kind, name, task_type, title, state,"
		 "       attempt, index, at, line, group_name, input, output, error, handle, driver"
		 "  from wf.process_v where instance_id = :instance and process_id = :process",
	  .missing = "there is no :PROCESS",
	  .is_record = true },

	{ .pattern = "history TARGET",
	  .summary = "Show every move, in order: what, when, who, why",
	  .options = "follow",
	  .role = VIEWER,
	  .sql = "select seq, at, process_id, label, was, event, state, actor, client, reason, detail, login, role,"
		 "       server_at"
		 "  from wf.event_v where instance_id = :instance and seq > coalesce(:seen::bigint, 0)"
		 "   and (:process is null or process_id = :process)"
		 " union all "
		 "select until_seq, until_at, process_id, name, null, 'replaced', null, null, null, null, value, null, null,"
		 "       null"
		 "  from wf.binding_v where instance_id = :instance and until_seq > coalesce(:seen::bigint, 0)"
		 "   and (:process is null or process_id = :process)"
		 " order by seq",
	  .run = cmd_history,
	  .detail = "--follow goes on until the instance or the process has ended or waits for an\n"
		    "operator.",
	  .shown = "seq at process_id label event state actor reason detail",
	  .missing = "there is no :TARGET" },

	{ .pattern = "log TARGET",
	  .summary = "Print what a task has logged or written, or all of an instance",
	  .options = "attempt follow times",
	  .role = VIEWER,
	  .sql = "select o.process_id, o.label, o.attempt, o.start, o.size, o.stream, o.at, o.dropped, o.body"
		 "  from wf.output_v o join wf.process_v p on p.instance_id = o.instance_id and p.process_id = o.process_id"
		 " where o.instance_id = :instance and (:process is null or o.process_id = :process)"
		 "   and o.attempt = coalesce(:attempt::int, p.attempt)"
		 " union all "
		 "select s.process_id, s.label, s.attempt, 0, octet_length(s.body), 'log', s.at, 0, s.body"
		 "  from (select p.process_id, l.label, p.attempt, p.at, (p.input ->> 'msg') || chr(10) as body"
		 "          from wf.process_v p join wf.label_v l on l.instance_id = p.instance_id and l.process_id = p.process_id"
		 "         where p.instance_id = :instance and (:process is null or p.process_id = :process)"
		 "           and p.task_type = 'lb.Log' and p.state = 'END'"
		 "           and p.attempt = coalesce(:attempt::int, p.attempt)) s"
		 " order by at, process_id, start",
	  .run = cmd_log,
	  .detail = "What lb.Log says is there when the task has ended, the output of a program while it\n"
		    "runs. --follow goes on until the task has ended or waits for an operator; as rows\n"
		    "(-o) it is printed once.\n" },
};

const struct command_group command_running = GROUP("running", rows);
