/*
 * commands.c - every command there is, in the order of the help.
 *
 * A row with `sql` is complete: its rows are printed.  A row with `run` is
 * one of the few that need C; it may still keep its SQL here.
 */
#include "console/commands.h"
#include "console/command.h"

#define VIEWER "wf_viewer"
#define APP "wf_app"
#define AUTHOR "wf_author"
#define OPERATOR "wf_operator"
#define ADMIN "wf_admin"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define KNOWN_VERSION TEXT(PGWF_SCHEMA_VERSION)

#define ACTING_S 600 /* for what may touch much in one statement */

#define COMPILE_OPTIONS "import library"
#define START_OPTIONS "param params key priority tag"
#define SELECTORS "id root state failed workflow tag older-than"
#define TARGETS \
	"A target is an instance, as 17, or a process of one, as 17/42. " \
	"Options select\n" \
	"targets in the whole workspace; several of them hold together, and " \
	"a " \
	"number\n" \
	"narrows them. More than one target is counted and asked about " \
	"first; without\n" \
	"a terminal that takes --yes. With --dry-run it is done, shown with " \
	"all that\n" \
	"follows from it, and taken back."

/* clang-format off */

/* The instances that the options of list select, at most so many. */
#define LISTED(count) \
	"wf.list(upper(:state::text)::text[], :workflow, :tag, :failed, " count ", :key, lower(:result), :since)"

/* What --sort names, if it has `sign` before it: a text, or else a number. */
#define SORTED(sign, direction) \
	"case lower(:sort) when '" sign "workflow' then workflow when '" sign "state' then state" \
	" when '" sign "key' then key when '" sign "result' then result end " direction " nulls last, " \
	"case lower(:sort) when '" sign "instance' then instance_id when '" sign "elapsed' then elapsed_s" \
	" when '" sign "failed' then failed when '" sign "priority' then priority" \
	" when '" sign "progress' then progress when '" sign "started' then extract(epoch from started_at)" \
	" when '" sign "ended' then extract(epoch from ended_at) end " direction " nulls last"

/* A verb: one row per target; :selector is what selector.h makes of options. */
#define VERB(word, about, own_options, call, harm) \
	{ .group = "repairing", \
	  .pattern = word " [TARGET...]", \
	  .summary = (about), \
	  .options = SELECTORS own_options " reason dry-run", \
	  .role = OPERATOR, \
	  .needs = NEEDS_NOTHING, \
	  .sql = "select instance_id, process_id, answer, detail from " call, \
	  .run = cmd_verb, \
	  .limit_s = ACTING_S, \
	  .destroys = (harm), \
	  .detail = TARGETS }

/* The verbs on the workspace as a whole. */
#define WORKSPACE(word, about, function) \
	{ .group = "operating", \
	  .pattern = "workspace " word, \
	  .summary = (about), \
	  .needs = NEEDS_DATABASE, \
	  .role = ADMIN, \
	  .run = (function) }

const struct command commands[] = {

	/* authoring ---------------------------------------------------- */

	{ .group = "authoring",
	  .pattern = "check FILE...",
	  .summary = "Report every error in workflow files",
	  .options = COMPILE_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_check },

	{ .group = "authoring",
	  .pattern = "fmt FILE...",
	  .summary = "Print workflow files in the one layout",
	  .options = "check write",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_fmt },

	{ .group = "authoring",
	  .pattern = "doc FILE [WORKFLOW]",
	  .summary = "Print what the workflows of a file take, give, do and use",
	  .options = "html " COMPILE_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_doc,
	  .detail = "Their comments, parameters, results, policies, steps, task types, groups and\n"
		    "rates; with --html as a page, with a drawing of each if Graphviz is installed." },

	{ .group = "authoring",
	  .pattern = "graph WHAT [WORKFLOW]",
	  .summary = "Draw a file, an installed workflow or an instance",
	  .options = "as " COMPILE_OPTIONS,
	  .role = VIEWER,
	  .needs = NEEDS_NOTHING,
	  .sql = "select parent_id, kind, label, branch, state, processes, after"
		 "  from wf.graph(p_workflow => :drawn-workflow, p_instance => :drawn-instance::bigint)",
	  .run = cmd_graph,
	  .detail = "WHAT is a file (*.wf, or with a slash), of which WORKFLOW chooses one, the\n"
		    "name of an installed workflow, or the number of an instance, whose states\n"
		    "are colours. The drawing is dot unless --as says otherwise; svg takes Graphviz." },

	{ .group = "authoring",
	  .pattern = "simulate WHAT [WORKFLOW]",
	  .summary = "Play a file or a workflow to its end, and undo it",
	  .options = COMPILE_OPTIONS " param params script seed",
	  .role = AUTHOR,
	  .needs = NEEDS_NOTHING,
	  .sql = "select elapsed, process, label, was, event, state, detail"
		 "  from wf.simulate(:played, :parameters, :rules, :seed)",
	  .run = cmd_simulate,
	  .limit_s = ACTING_S,
	  .shown = "elapsed process label event state detail",
	  .detail = "WHAT is a file (*.wf, or with a slash), of which WORKFLOW chooses one, or the\n"
		    "name of an installed workflow. Drivers and the clock are made up; --script\n"
		    "says what comes of tasks. The exit code is the result: 0 success, 10 warning,\n"
		    "11 error, 12 aborted; 1 if it does not come to its end by itself." },

	{ .group = "authoring",
	  .pattern = "install FILE...",
	  .summary = "Compile workflow files and install them",
	  .options = COMPILE_OPTIONS,
	  .role = AUTHOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_install,
	  .limit_s = NO_LIMIT },

	{ .group = "authoring",
	  .pattern = "workflows",
	  .summary = "List the installed workflows",
	  .role = VIEWER,
	  .sql = "select workflow, version, instances, installed_at, installed_by, doc, params"
		 "  from wf.workflow_v order by workflow",
	  .shown = "workflow version instances installed_at installed_by doc",
	  .none = "no workflow is installed; `wf-console install FILE` installs one" },

	{ .group = "authoring",
	  .pattern = "print WORKFLOW [VERSION]",
	  .summary = "Print what a version does, as text",
	  .role = VIEWER,
	  .sql = "select version, tree from wf.version_v"
		 " where workflow = :workflow and version = coalesce(:version::int, version)"
		 " order by version desc limit 1",
	  .run = cmd_print,
	  .detail = "Without VERSION: the last one. The text is made of the tree that runs, compiled\n"
		    "again and compared with it. The comments of its source are not in it, but those\n"
		    "that document." },

	{ .group = "authoring",
	  .pattern = "versions WORKFLOW",
	  .summary = "List the versions of a workflow, latest first",
	  .role = VIEWER,
	  .sql = "select workflow, version, installed_at, installed_by, checksum, source, 'unverified' as source_state"
		 "  from wf.version_v where workflow = :workflow order by version desc",
	  .shown = "workflow version installed_at installed_by checksum",
	  .missing = "there is no workflow :WORKFLOW" },

	{ .group = "authoring",
	  .pattern = "diff WORKFLOW [VERSION...]",
	  .summary = "Show what changed between versions",
	  .role = VIEWER,
	  .run = cmd_diff,
	  .detail = "Without VERSION: the last two; with one: from it to the last one. The texts are\n"
		    "those that print prints." },

	{ .group = "authoring",
	  .pattern = "verify [WHAT...]",
	  .summary = "Compile sources, and compare them with what runs",
	  .options = COMPILE_OPTIONS,
	  .role = VIEWER,
	  .sql = "select v.workflow, v.version, v.source, v.tree"
		 "  from wf.version_v v"
		 " where v.workflow = coalesce(:verified, v.workflow)"
		 "   and (not :present::boolean or exists (select from wf.workflow_v w"
		 "                                          where (w.workflow, w.version) = (v.workflow, v.version)))"
		 " order by v.workflow, v.version",
	  .run = cmd_verify,
	  .limit_s = ACTING_S,
	  .shown = "workflow version against verdict detail",
	  .none = "no workflow is installed",
	  .detail = "WHAT is a workflow: each version is compared with the source that was installed\n"
		    "with it; or a file (*.wf, or with a slash): each workflow in it is compared with\n"
		    "the version that start uses. Without WHAT: the versions that start uses, with\n"
		    "their sources. The exit code is 1 unless all are verified." },

	{ .group = "authoring",
	  .pattern = "remove WORKFLOW",
	  .summary = "Remove a workflow that has no instances under way",
	  .role = AUTHOR,
	  .destroys = true,
	  .sql = "select :workflow as workflow, 'removed' as answer from wf.remove(:workflow)" },

	/* running ------------------------------------------------------ */

	{ .group = "running",
	  .pattern = "start WORKFLOW",
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

	{ .group = "running",
	  .pattern = "wait INSTANCE",
	  .summary = "Wait until an instance has ended",
	  .options = "timeout unattended",
	  .role = APP,
	  .sql = "select state from wf.result(:instance)",
	  .run = cmd_wait,
	  .detail = "The exit code is the result: 0 success, 10 warning, 11 error, 12 aborted; after\n"
		    "--timeout 13, or 14 if it waits for an operator. --unattended leaves with 14 as soon\n"
		    "as it waits for an operator. Without the two it waits as long as it takes. A login\n"
		    "without wf_viewer is told of an operator only while the instance is suspended." },

	{ .group = "running",
	  .pattern = "run FILE [WORKFLOW]",
	  .summary = "Install a file, start it, follow it to its end",
	  .options = COMPILE_OPTIONS " " START_OPTIONS,
	  .role = AUTHOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_run,
	  .limit_s = ACTING_S,
	  .detail = "Without WORKFLOW: main, or the only one in the file. The exit code is the\n"
		    "result: 0 success, 10 warning, 11 error, 12 aborted; 1 if it can not go on\n"
		    "without an operator." },

#include "console/commands_outside.h"
#include "console/commands_schedule.h"

	{ .group = "running",
	  .pattern = "list",
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

	{ .group = "running",
	  .pattern = "count",
	  .summary = "Count instances by workflow, state and result",
	  .options = "state workflow failed tag key result since",
	  .role = VIEWER,
	  .sql = "select workflow, state, result, count(*) as instances,"
		 "       count(*) filter (where failed > 0) as with_failures"
		 "  from wf.instance_v where instance_id = any (array(select " LISTED("2147483647") "))"
		 " group by workflow, state, result order by workflow, state, result",
	  .none = "no instances" },

	{ .group = "running",
	  .pattern = "tree INSTANCE",
	  .summary = "Show the processes of an instance as a tree",
	  .options = "limit after follow",
	  .role = VIEWER,
	  .sql = "select process_id, parent_id, depth, label, kind, state, attempt, at, note, progress, elapsed_s"
		 "  from wf.tree(:instance, :rows::int, split_part(:after, '/', -1)::bigint)",
	  .run = cmd_tree,
	  .none = "nothing comes after it",
	  .detail = "--follow prints it again whenever it has changed, until the instance has ended or\n"
		    "waits for an operator. `wf-console watch 17` shows it live." },

	{ .group = "running",
	  .pattern = "gantt INSTANCE",
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

	{ .group = "running",
	  .pattern = "watch [INSTANCE]",
	  .summary = "Watch what runs, or the tree of an instance, live",
	  .role = VIEWER,
	  .run = cmd_watch,
	  .detail = "Arrows or j and k move, enter opens the chosen instance, b goes back, q quits.\n"
		    "Below stands why what is chosen does not go on." },

	{ .group = "running",
	  .pattern = "show INSTANCE",
	  .summary = "Show all about an instance",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, version, key, state, result, failed, priority,"
		 "       to_json(tags) as tags, progress, started_at, ended_at, started_by,"
		 "       parent_id, parent_process_id, scheduled_at, expires_at, params, output, error"
		 "  from wf.instance_v where instance_id = :instance",
	  .missing = "there is no :INSTANCE",
	  .is_record = true },

	{ .group = "running",
	  .pattern = "show PROCESS",
	  .summary = "Show all about a process of it",
	  .role = VIEWER,
	  .sql = "select instance_id, process_id, parent_id, kind, name, task_type, title, state,"
		 "       attempt, index, at, line, group_name, input, output, error, handle, driver"
		 "  from wf.process_v where instance_id = :instance and process_id = :process",
	  .missing = "there is no :PROCESS",
	  .is_record = true },

	{ .group = "running",
	  .pattern = "history TARGET",
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

	{ .group = "running",
	  .pattern = "log TARGET",
	  .summary = "Print what a task has logged or written, or all of an instance",
	  .options = "attempt follow",
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

	/* explaining --------------------------------------------------- */

	{ .group = "explaining",
	  .pattern = "explain TARGET",
	  .summary = "Say why something waits, or why it failed",
	  .role = VIEWER,
	  .sql = "select process_id, label, reason, detail, since"
		 "  from wf.explain(:instance, :process)",
	  .run = cmd_explain,
	  .whole = "label detail",
	  .none = "nothing holds it up",
	  .detail = "A task that a driver may take has no reason. Notes say what is taken before it,\n"
		    "and what the slots of the drivers that serve it are taken by.\n" },

	{ .group = "explaining",
	  .pattern = "stuck",
	  .summary = "List what can't go on unless someone does something",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, reason, processes, process_id, label, detail, since"
		 "  from wf.stuck()",
	  .shown = "instance_id workflow reason processes label detail since",
	  .whole = "label detail",
	  .none = "nothing waits for anybody",
	  .detail = "failed: retry, ignore, resolve or raise it. driver: start one that serves the\n"
		    "queue. group: give it places, with `group set`. suspended: resume it. paused:\n"
		    "`engine resume`." },

	{ .group = "explaining",
	  .pattern = "groups",
	  .summary = "List concurrency groups: how many tasks hold a place or wait for one",
	  .role = VIEWER,
	  .sql = "select name, max, held, waiting from wf.group_v order by name",
	  .none = "no groups" },

	{ .group = "explaining",
	  .pattern = "rates",
	  .summary = "List rates: how many tasks have begun, and wait until they may",
	  .role = VIEWER,
	  .sql = "select name, max, per::text as per, begun, granted, waiting, free_at from wf.rate_v order by name",
	  .none = "no rates" },

	{ .group = "explaining",
	  .pattern = "drivers",
	  .summary = "List drivers",
	  .role = VIEWER,
	  .sql = "select driver_id, name, version, state, started_at, seen_at, slots, in_flight,"
		 "       to_json(transports) as transports, to_json(queues) as queues,"
		 "       to_json(capabilities) as capabilities"
		 "  from wf.driver_v order by driver_id",
	  .shown = "driver_id name state seen_at slots in_flight transports queues capabilities",
	  .none = "no driver has been here" },

	{ .group = "explaining",
	  .pattern = "driver status DRIVER",
	  .summary = "Show what a driver has counted",
	  .role = VIEWER,
	  .sql = "select c.driver_id, c.name, c.counter, c.value, c.counted_at"
		 "  from wf.driver_counter_v c join wf.driver_v d using (driver_id)"
		 " where c.driver_id::text = :driver or (c.name = :driver and d.state in ('live', 'draining'))"
		 " order by c.driver_id, c.counter collate \"C\"",
	  .shown = "driver_id counter value counted_at",
	  .missing = "no driver at work is called so, or it has not counted anything yet",
	  .detail = "DRIVER is its number or its name, as `wf-console drivers` lists them; a name\n"
		    "means all at work that bear it. A driver writes its counters every ten seconds;\n"
		    "they count from the start of the program. docs/driver.md says what each means." },

	/* repairing ---------------------------------------------------- */

	VERB("retry", "Try again what has failed", "",
	     "wf.retry(:selector, :reason)", false),
	VERB("ignore", "Go on as if what has failed had ended", " cascade",
	     "wf.ignore(:selector, :reason, :cascade)", false),
	VERB("resolve", "Go on with --output in place of what has failed", " output",
	     "wf.resolve(:selector, :output, :reason)", false),
	VERB("raise", "Give up what has failed: its error ends it all", "",
	     "wf.raise(:selector, :reason)", true),
	VERB("cancel", "Stop tasks; they fail as cancelled", "",
	     "wf.cancel(:selector, :reason)", true),
	VERB("abort", "Stop instances for good", " undo",
	     "wf.abort(:selector, :reason, :undo)", true),
	VERB("halt", "Stop instances at once: nothing more of them runs", "",
	     "wf.halt(:selector, :reason)", true),
	VERB("suspend", "Hold instances: what they have begun goes on", "",
	     "wf.suspend(:selector, :reason)", false),
	VERB("resume", "Let suspended instances go on", "",
	     "wf.resume(:selector, :reason)", false),

	{ .group = "repairing",
	  .pattern = "action [TARGET...]",
	  .summary = "One of these, spelled as in lb-workflow",
	  .options = "action " SELECTORS " global name output cascade undo reason dry-run",
	  .role = OPERATOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_action,
	  .detail = "Without the number of an instance or a process it means the latest instance of\n"
		    "those that are selected, as in lb-workflow; --global means all of it. The verbs\n"
		    "themselves mean the whole workspace." },

	/* operating ---------------------------------------------------- */

	{ .group = "operating",
	  .pattern = "group set NAME MAX",
	  .summary = "Let at most MAX tasks of a group run at once",
	  .role = OPERATOR,
	  .sql = "select :name as name, :max as max,"
		 "       case when exists (select from wf.group_v g where g.name = :name) then 'changed' else 'made a new group' end"
		 "           as answer"
		 "  from wf.group_set(:name, nullif(:max, 'none')::int)",
	  .detail = "0 lets nothing of it start, none lifts the limit. What runs goes on; a task that\n"
		    "gives the group a max overwrites it." },

	{ .group = "operating",
	  .pattern = "engine status",
	  .summary = "Say whether requests are handed out",
	  .role = VIEWER,
	  .sql = "select state, since, actor, client, reason, in_flight, schema_version from wf.engine_v",
	  .is_record = true },

	{ .group = "operating",
	  .pattern = "engine pause",
	  .summary = "Hand out nothing, of any instance",
	  .options = "reason dry-run",
	  .role = OPERATOR,
	  .sql = "select answer, detail from wf.engine_pause(:reason)",
	  .run = cmd_engine,
	  .limit_s = ACTING_S,
	  .detail = "What drivers hold they finish and report: `engine status` counts it. Timers\n"
		    "go on, and so do starts and what operators do." },

	{ .group = "operating",
	  .pattern = "engine resume",
	  .summary = "Hand out what is ready again",
	  .options = "reason dry-run",
	  .role = OPERATOR,
	  .sql = "select answer, detail from wf.engine_resume(:reason)",
	  .run = cmd_engine,
	  .limit_s = ACTING_S },

	{ .group = "operating",
	  .pattern = "engine history",
	  .summary = "Show when it was paused and resumed: who, why",
	  .role = VIEWER,
	  .sql = "select seq, at, event, actor, client, reason from wf.engine_event_v order by seq",
	  .shown = "at event actor client reason",
	  .none = "it has never been paused" },

	{ .group = "operating",
	  .pattern = "driver drain DRIVER",
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

#include "console/commands_rights.h"

	{ .group = "operating",
	  .pattern = "settings",
	  .summary = "List the settings of the workspace",
	  .role = VIEWER,
	  .sql = "select * from wf.setting_v order by name" },

	{ .group = "operating",
	  .pattern = "setting set NAME NUMBER",
	  .summary = "Change a setting of the workspace",
	  .role = ADMIN,
	  .sql = "select :name as name, :number as value from wf.setting_set(:name, :number)" },

	{ .group = "operating",
	  .pattern = "fsck",
	  .summary = "Check that the workspace is sound; rows are faults",
	  .role = VIEWER,
	  .sql = "select class, check_name, instance_id, process_id, detail from wf.fsck()",
	  .none = "sound: every check passed",
	  .limit_s = NO_LIMIT,
	  .rows_are_bad = true },

	{ .group = "operating",
	  .pattern = "purge [TARGET...]",
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
	  .detail = "Nothing brings them back. --older-than counts from their end. It goes by batches\n"
		    "of 1000 instances, oldest first, and waits for nobody; where it is ended midway,\n"
		    "what has gone is gone. The setting keep_days has the workspace do it by itself." },

	{ .group = "operating",
	  .pattern = "purges",
	  .summary = "Show what was purged: who, when, why, how many",
	  .role = VIEWER,
	  .sql = "select seq, at, last_at, actor, client, reason, target, instances from wf.purge_v order by seq",
	  .shown = "at last_at actor reason target instances",
	  .none = "nothing has been purged" },

	{ .group = "operating",
	  .pattern = "audit",
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

	{ .group = "operating",
	  .pattern = "workspace status",
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

	/* a workspace of one's own ------------------------------------- */

	{ .group = "a workspace of your own",
	  .pattern = "local start",
	  .summary = "Start a private PostgreSQL, workspace and driver",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .role = ADMIN,
	  .run = cmd_local_start,
	  .is_record = true,
	  .detail = "Reached through a socket in its directory only. While it runs, commands that\n"
		    "name no database (no -d, -h, -p, no PG* variables) speak to it.\n"
		    "Without --dir and PGWF_HOME it is in ~/.local/share/pgwf, for root in\n"
		    "/var/lib/pgwf." },

	{ .group = "a workspace of your own",
	  .pattern = "local run FILE [WORKFLOW]",
	  .summary = "Start it if need be, and run a file there",
	  .options = "dir " COMPILE_OPTIONS " " START_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .role = AUTHOR,
	  .run = cmd_local_run,
	  .limit_s = ACTING_S },

	{ .group = "a workspace of your own",
	  .pattern = "local status",
	  .summary = "Show what of it runs and how to reach it",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_local_status,
	  .is_record = true },

	{ .group = "a workspace of your own",
	  .pattern = "local stop",
	  .summary = "Stop all of it; nothing is left but the directory",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_local_stop,
	  .is_record = true },

	/* help --------------------------------------------------------- */

	{ .group = "help",
	  .pattern = "help [COMMAND...]",
	  .summary = "Show all commands, or one in full",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_help },

	{ .group = "help",
	  .pattern = "man",
	  .summary = "Print the manual page, for man(1)",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_man },

	{ .group = "help",
	  .pattern = "completion bash",
	  .summary = "Print what lets bash complete commands and options",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_completion_bash,
	  .detail = "It is installed with the program; else: source <(wf-console completion bash)" },

	{ .group = "help",
	  .pattern = "completion zsh",
	  .summary = "Print what lets zsh complete commands and options",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_completion_zsh,
	  .detail = "It is installed with the program; else, behind compinit:\n"
		    "source <(wf-console completion zsh)" },

	{ .group = "help",
	  .pattern = "version",
	  .summary = "Show the version",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_version },
};

const size_t command_count = sizeof(commands) / sizeof(commands[0]);
