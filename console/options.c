/*
 * options.c - every option there is.  A command lists the names of its options;
 * the same name means the same thing in each command.
 */
#include "console/command.h"

/* clang-format off */

/* Keep sorted by name. */
const struct option command_options[] = {
	{ "action", 'a', false, "ACTION", "retry, ignore, resolve, raise, cancel, abort, halt, suspend, resume" },
	{ "after", 0, false, "MEMBER", "go on after this process" },
	{ "as", 0, false, "DRAWING", "dot, mermaid or svg" },
	{ "at", 0, false, "TIME", "begin then, not at once: 2026-01-31T08:00" },
	{ "attempt", 0, false, "NUMBER", "of this attempt (default: of the latest)" },
	{ "before", 0, false, "TIME", "do not begin at that time or later" },
	{ "broadcast", 0, false, NULL, "to all that wait for it now; it is not kept" },
	{ "by", 0, false, "LOGIN", "by this login, or by this role" },
	{ "cascade", 0, false, NULL, "skip what reads it, too, and what reads that" },
	{ "catchup", 0, false, "NUMBER", "make up for so many missed times, the newest (default: 1)" },
	{ "check", 0, false, NULL, "only say which files are not in this layout" },
	{ "count", 0, false, "COUNT", "fire so many times in all" },
	{ "cron", 0, false, "CRON", "times as a cron expression: '30 2 * * mon-fri'" },
	{ "dir", 0, false, "DIR", "its directory (default: $PGWF_HOME)" },
	{ "dry-run", 0, false, NULL, "show what it would do, and do nothing" },
	{ "end", 0, false, "TIME", "no time after this" },
	{ "every", 0, false, "DURATION", "times an interval apart: '10 min'" },
	{ "failed", 0, false, NULL, "what has failed" },
	{ "file", 0, false, "FILE", "the answer as JSON; - is standard input" },
	{ "follow", 'f', false, NULL, "go on until it has ended or waits for an operator" },
	{ "from", 0, false, "TIME", "the first time" },
	{ "global", 0, false, NULL, "all of the latest instance (of --name)" },
	{ "html", 0, false, NULL, "as a page of HTML, with drawings" },
	{ "id", 0, true, "TARGET", "this one, the same as an argument" },
	{ "import", 'I', true, "DIR", "where imports are (default: beside the file)" },
	{ "instance", 0, false, "INSTANCE", "what was done to this instance" },
	{ "jitter", 0, false, "DURATION", "begin up to so much later" },
	{ "key", 0, false, "KEY", "its key: a start whose key is known answers that instance" },
	{ "library", 'L', true, "DIR", "a folder of task types that need no import" },
	{ "limit", 0, false, "COUNT", "at most so many (default: 50, of a tree 200)" },
	{ "name", 0, false, "WORKFLOW", "the same as --workflow" },
	{ "older-than", 0, false, "AGE", "instances started longer ago than this" },
	{ "output", 0, false, "JSON", "what the task is to have answered" },
	{ "overlap", 0, false, "OVERLAP", "allow, skip, queue, replace or coalesce" },
	{ "param", 'p', true, "PARAM=VALUE", "a parameter; @FILE reads its value" },
	{ "params", 0, false, "OBJECT", "parameters as JSON; --param goes over them" },
	{ "payload", 0, false, "JSON", "what is sent with it (default: null)" },
	{ "priority", 0, false, "NUMBER", "higher goes first (default: 0)" },
	{ "quiet", 'q', false, NULL, "print nothing but the number of the instance" },
	{ "reason", 0, false, "TEXT", "why, for the history" },
	{ "result", 0, false, "RESULT", "that have ended with success, warning, error or aborted" },
	{ "root", 0, false, "ROOT", "everything below this process" },
	{ "script", 0, false, "FILE", "what comes of which task, as JSON" },
	{ "seed", 0, false, "NUMBER", "the rest at random, the same for the same seed" },
	{ "since", 0, false, "MOMENT", "since then: 2026-01-31, or an age, as 7d" },
	{ "sort", 0, false, "ORDER", "by elapsed, started, ended, state, ..., or -elapsed downwards" },
	{ "start", 0, false, "TIME", "no time before this" },
	{ "state", 0, true, "STATE", "what is in this state" },
	{ "tag", 0, true, "TAG", "a tag" },
	{ "timeout", 0, false, "DURATION", "wait no longer than this: 30s" },
	{ "times", 0, false, NULL, "each line begins with when it was written" },
	{ "timezone", 0, false, "ZONE", "whose clock the cron expression is for" },
	{ "to", 0, false, "TIME", "before this time" },
	{ "unattended", 0, false, NULL, "do not wait for an operator: leave with exit code 14" },
	{ "undo", 0, false, NULL, "undo what has ended well in them, last first" },
	{ "verb", 0, false, "VERB", "this verb, as abort or 'engine pause'" },
	{ "wait", 0, false, NULL, "wait for the end and exit with the result" },
	{ "workflow", 0, false, "WORKFLOW", "instances of this workflow" },
	{ "write", 'w', false, NULL, "write the files in place of printing them" },
};

const size_t command_option_count = sizeof(command_options) / sizeof(command_options[0]);

/*
 * They stand before the command, or after it unless the command has the same
 * letter.
 */
const struct option global_options[] = {
	{ "dbname", 'd', false, "CONNINFO", "database, connection string or URI" },
	{ "host", 'h', false, "HOST", "server, or the directory of its socket" },
	{ "port", 'p', false, "PORT", "its port" },
	{ "username", 'U', false, "USER", "connect as this user" },
	{ "format", 'o', false, "FORMAT", "table (default), json or csv" },
	{ "expanded", 'x', false, NULL, "each row as a block, with a line for each column" },
	{ "yes", 'y', false, NULL, "do not ask" },
	{ "no-color", 0, false, NULL, "no colours; so does NO_COLOR" },
	{ "help", '?', false, NULL, "show help, for the command if there is one" },
	{ "version", 'V', false, NULL, "show the version" },
};

const size_t global_option_count =
    sizeof(global_options) / sizeof(global_options[0]);
