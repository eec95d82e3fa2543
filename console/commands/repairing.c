/*
 * repairing.c - the verbs on instances and processes.
 */
#include "console/commands/group.h"

/* clang-format off */

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


/* A verb: one row per target; selector.h makes :selector from the options. */
#define VERB(word, about, own_options, call, harm) \
	{ .pattern = word " [TARGET...]", \
	  .summary = (about), \
	  .options = SELECTORS own_options " reason dry-run", \
	  .role = OPERATOR, \
	  .needs = NEEDS_NOTHING, \
	  .sql = "select instance_id, process_id, answer, detail from " call, \
	  .run = cmd_verb, \
	  .limit_s = ACTING_S, \
	  .destroys = (harm), \
	  .detail = TARGETS }

static const struct command rows[] = {

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

	{ .pattern = "action [TARGET...]",
	  .summary = "One of these, spelled as in lb-workflow",
	  .options = "action " SELECTORS " global name output cascade undo reason dry-run",
	  .role = OPERATOR,
	  .needs = NEEDS_NOTHING,
	  .run = cmd_action,
	  .detail = "Without the number of an instance or a process, action takes the latest of the\n"
		    "instances that are selected, as in lb-workflow; with --global, all of that\n"
		    "instance. The other verbs select in the whole workspace." },
};

const struct command_group command_repairing = GROUP("repairing", rows);
