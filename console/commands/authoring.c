/*
 * authoring.c - the commands for files and installed workflows.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "check FILE...",
	  .summary = "Report every error in workflow files",
	  .options = COMPILE_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_check },

	{ .pattern = "fmt FILE...",
	  .summary = "Print workflow files in the one layout",
	  .options = "check write",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_fmt },

	{ .pattern = "doc FILE [WORKFLOW]",
	  .summary = "Print what the workflows of a file take, give, do and use",
	  .options = "html " COMPILE_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_doc,
	  .detail = "Their comments, parameters, results, policies, steps, task types, groups and\n"
		    "rates; with --html as a page, with a drawing of each if Graphviz is installed." },

	{ .pattern = "graph WHAT [WORKFLOW]",
	  .summary = "Draw a file, an installed workflow or an instance",
	  .options = "as " COMPILE_OPTIONS,
	  .role = VIEWER,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_graph,
	  .detail = "WHAT is a file (*.wf, or with a slash), of which WORKFLOW chooses one, the\n"
		    "name of an installed workflow, or the number of an instance, with its states,\n"
		    "attempts and durations. The drawing is dot unless --as says otherwise; svg\n"
		    "takes Graphviz." },

	{ .pattern = "simulate WHAT [WORKFLOW]",
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

	{ .pattern = "install FILE...",
	  .summary = "Compile workflow files and install them",
	  .options = COMPILE_OPTIONS,
	  .role = AUTHOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_install,
	  .limit_s = NO_LIMIT },

	{ .pattern = "workflows",
	  .summary = "List the installed workflows",
	  .role = VIEWER,
	  .sql = "select workflow, version, instances, installed_at, installed_by, doc, params"
		 "  from wf.workflow_v order by workflow",
	  .shown = "workflow version instances installed_at installed_by doc",
	  .none = "no workflow is installed; `wf-console install FILE` installs one" },

	{ .pattern = "print WORKFLOW [VERSION]",
	  .summary = "Print what a version does, as text",
	  .role = VIEWER,
	  .sql = "select version, tree from wf.version_v"
		 " where workflow = :workflow and version = coalesce(:version::int, version)"
		 " order by version desc limit 1",
	  .run = cmd_print,
	  .detail = "Without VERSION: the last one. The text is made from the tree that runs, and then\n"
		    "compiled and compared with that tree. Of the comments of the source, the text has\n"
		    "only those that document." },

	{ .pattern = "versions WORKFLOW",
	  .summary = "List the versions of a workflow, latest first",
	  .role = VIEWER,
	  .sql = "select workflow, version, installed_at, installed_by, checksum, source, 'unverified' as source_state"
		 "  from wf.version_v where workflow = :workflow order by version desc",
	  .shown = "workflow version installed_at installed_by checksum",
	  .missing = "there is no workflow :WORKFLOW" },

	{ .pattern = "diff WORKFLOW [VERSION...]",
	  .summary = "Show what changed between versions",
	  .role = VIEWER,
	  .run = cmd_diff,
	  .detail = "Without VERSION: the last two; with one: from it to the last one. The texts are\n"
		    "those that print prints." },

	{ .pattern = "verify [WHAT...]",
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

	{ .pattern = "remove WORKFLOW",
	  .summary = "Remove a workflow that has no instances under way",
	  .role = AUTHOR,
	  .destroys = true,
	  .sql = "select :workflow as workflow, 'removed' as answer from wf.remove(:workflow)" },
};

const struct command_group command_authoring = GROUP("authoring", rows);
