#include "console/known_word.h"

#include <string.h>

#include "common/error.h"
#include "common/suggestion.h"
#include "console/command.h"

/* clang-format off */

/* Keep sorted by word. */
static const struct {
	const char *word;
	const char *hint;
} known_commands[] = {
	{ "apply", "`wf-console install FILE` installs workflows." },
	{ "cat", "`wf-console print WORKFLOW` prints what a workflow does." },
	{ "compile", "`wf-console check FILE` reports the errors of a file." },
	{ "continue",
	    "`wf-console resume 17` lets a suspended instance go on." },
	{ "create", "`wf-console install FILE` installs workflows, "
	            "`wf-console start WORKFLOW` starts an instance." },
	{ "delete",
	    "`wf-console help purge` says how instances that have ended "
	    "are deleted, `wf-console help remove` how a workflow is." },
	{ "deploy", "`wf-console install FILE` installs workflows." },
	{ "describe", "`wf-console show 17` shows an instance, `wf-console "
	              "explain 17` says why it waits." },
	{ "edit", "An instance under way is not edited; install a new version, "
	          "which new instances use." },
	{ "events",
	    "`wf-console history 17` shows every move of an instance." },
	{ "exec", "`wf-console start WORKFLOW` starts an instance." },
	{ "execute", "`wf-console start WORKFLOW` starts an instance." },
	{ "export", "There is no export: -o json and -o csv print the rows of "
	            "any command, `wf-console print WORKFLOW` a workflow." },
	{ "find", "`wf-console list` takes --workflow, --state, --tag, --key, "
	          "--result and --since." },
	{ "fork",
	    "There is no fork: `wf-console start WORKFLOW` starts another "
	    "instance." },
	{ "format", "`wf-console fmt FILE` lays a file out." },
	{ "get",
	    "`wf-console list` lists the instances, `wf-console workflows` "
	    "the workflows, `wf-console drivers` the drivers." },
	{ "info",
	    "`wf-console show 17` shows an instance, `wf-console gantt 17` "
	    "how long its tasks took." },
	{ "init", "`wf-console workspace install` makes a workspace in a "
	          "database." },
	{ "inspect", "`wf-console show 17` shows an instance, `wf-console show "
	             "17/42` a process of it." },
	{ "jobs", "`wf-console list` lists the instances." },
	{ "kill", "`wf-console help abort`, `help halt` and `help cancel` say "
	          "how work is stopped." },
	{ "lint", "`wf-console check FILE` reports the errors of a file." },
	{ "locks", "`wf-console groups` lists the groups, and who holds their "
	           "places." },
	{ "logs",
	    "`wf-console log 17` prints what the tasks of an instance have "
	    "written." },
	{ "ls", "`wf-console list` lists the instances." },
	{ "metrics",
	    "`wf-console driver status` prints the counters of drivers; the "
	    "views of the schema wf have the figures of instances." },
	{ "migrate",
	    "`wf-console workspace upgrade` brings the workspace to the "
	    "schema of this program." },
	{ "pause",
	    "`wf-console suspend 17` holds an instance, `wf-console "
	    "engine pause` all of them, `wf-console schedule pause NAME` "
	    "a schedule." },
	{ "ps",
	    "`wf-console list` lists the instances, `wf-console tree 17` the "
	    "processes of one." },
	{ "queue", "`wf-console list` lists the instances." },
	{ "replay",
	    "There is no replay: `wf-console retry 17` tries again what "
	    "has failed." },
	{ "rerun", "`wf-console retry 17` tries again what has failed, "
	           "`wf-console start WORKFLOW` starts another instance." },
	{ "restart", "`wf-console retry 17` tries again what has failed, "
	             "`wf-console start WORKFLOW` starts another instance." },
	{ "rm",
	    "`wf-console help purge` says how instances that have ended are "
	    "deleted, `wf-console help remove` how a workflow is." },
	{ "runs", "`wf-console list` lists the instances." },
	{ "schema", "`wf-console workspace status` shows which schema there "
	            "is." },
	{ "set", "`wf-console setting set NAME NUMBER` changes a setting." },
	{ "status",
	    "`wf-console list` lists the instances, `wf-console show 17` "
	    "shows one, `wf-console workspace status` the workspace." },
	{ "stop", "`wf-console suspend 17` holds an instance; `wf-console help "
	          "abort` says how it is stopped for good." },
	{ "submit", "`wf-console start WORKFLOW` starts an instance." },
	{ "tasks", "`wf-console tree 17` shows the tasks of an instance." },
	{ "terminate", "`wf-console help abort`, `help halt` and `help cancel` "
	               "say how work is stopped." },
	{ "top", "`wf-console watch` shows what runs, live." },
	{ "trace", "`wf-console history 17` shows every move of an instance, "
	           "`wf-console gantt 17` when its tasks ran." },
	{ "trigger", "`wf-console start WORKFLOW` starts an instance, "
	             "`wf-console schedule fire NAME` a schedule." },
	{ "ui", "`wf-console watch` shows what runs, live." },
	{ "unlock", "`wf-console group set NAME MAX` gives a group more "
	            "places." },
	{ "unpause",
	    "`wf-console resume 17` lets an instance go on, `wf-console "
	    "engine resume` the engine." },
	{ "upgrade",
	    "`wf-console workspace upgrade` brings the workspace to the "
	    "schema of this program." },
	{ "validate", "`wf-console check FILE` reports the errors of a file." },
};

#define FILE_IS_ARGUMENT "The file is an argument, without an option."

/* The command for which an option is meant, by its first words; "": any. */
static const struct {
	const char *command;
	const char *option;
	const char *hint;
} known_options[] = {
	{ "check", "-f", FILE_IS_ARGUMENT },
	{ "check", "--file", FILE_IS_ARGUMENT },
	{ "install", "-f", FILE_IS_ARGUMENT },
	{ "install", "--file", FILE_IS_ARGUMENT },
	{ "list", "--status", "Use --state RUNNING." },
	{ "list", "-n", "Use --limit COUNT." },
	{ "list", "-a",
	    "It lists instances in every state; --limit COUNT says "
	    "how many." },
	{ "list", "--all",
	    "It lists instances in every state; --limit COUNT "
	    "says how many." },
	{ "list", "-w", "`wf-console watch` shows what runs, live." },
	{ "list", "--watch", "`wf-console watch` shows what runs, live." },
	{ "run", "-f",
	    "The file is an argument: wf-console run FILE "
	    "[WORKFLOW]" },
	{ "run", "--file",
	    "The file is an argument: wf-console run FILE "
	    "[WORKFLOW]" },
	{ "run", "-m",
	    "The file and its workflow are arguments: wf-console run "
	    "FILE [WORKFLOW]" },
	{ "run", "--name",
	    "The workflow is an argument: wf-console run FILE "
	    "[WORKFLOW]" },
	{ "start", "-f",
	    "`wf-console run FILE` installs a file and starts it; "
	    "start takes an installed workflow." },
	{ "start", "--file",
	    "`wf-console run FILE` installs a file and starts "
	    "it; start takes an installed workflow." },
	{ "start", "-n",
	    "The workflow is an argument: wf-console start "
	    "WORKFLOW" },
	{ "start", "--name",
	    "The workflow is an argument: wf-console start "
	    "WORKFLOW; --tag and --key tell its instances "
	    "apart." },
	{ "", "--binding", "Parameters are given with --param NAME=VALUE." },
	{ "", "--json", "Use -o json." },
	{ "", "--csv", "Use -o csv." },
	{ "", "--output",
	    "The form of what is printed is -o table, json or "
	    "csv." },
	{ "", "--force", "--yes does it without asking." },
	{ "", "--database", "Use --dbname, or -d." },
	{ "", "--user", "Use --username, or -U." },
};

/* clang-format on */

const char *
known_command(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(known_commands) / sizeof(known_commands[0]); i++)
		if (strcmp(known_commands[i].word, word) == 0)
			return known_commands[i].hint;
	return NULL;
}

static bool
begins_with(const struct command *command, const char *words)
{
	size_t len = strlen(words);

	return len == 0 ||
	       (command != NULL && pattern_words(command->pattern) >= len &&
	           strncmp(command->pattern, words, len) == 0);
}

const char *
known_option(const struct command *command, const char *option)
{
	size_t i;

	for (i = 0; i < sizeof(known_options) / sizeof(known_options[0]); i++)
		if (strcmp(known_options[i].option, option) == 0 &&
		    begins_with(command, known_options[i].command))
			return known_options[i].hint;
	return NULL;
}

void
known_word_hint(const char *word, const char *first, struct error *err)
{
	const char *known = known_command(word), *before;
	const struct command *command = NULL;
	struct suggestion suggestion;
	bool destroys = false;
	size_t len;

	if (known != NULL) {
		error_hint(err, "%s", known);
		return;
	}
	suggestion_init(&suggestion, word);
	while ((command = command_next(command)) != NULL) {
		before = suggestion.best;
		len = first[0] != '\0' ? pattern_words(command->pattern)
		                       : strcspn(command->pattern, " ");
		suggestion_offer(&suggestion, command->pattern, len);
		if (suggestion.best != before)
			destroys = command->destroys;
	}
	if (suggestion.best == NULL)
		error_hint(err, "`wf-console help` lists what there is.");
	else if (destroys && first[0] == '\0')
		error_hint(err,
		    "`wf-console help %.*s` describes a command of a similar "
		    "name.",
		    (int)suggestion.best_len, suggestion.best);
	else
		error_hint(err, "Did you mean `wf-console %s%.*s`?", first,
		    (int)suggestion.best_len, suggestion.best);
}
