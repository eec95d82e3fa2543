/*
 * command.h - what a command is.
 *
 * A command is a row of a table in commands/.  Its pattern is its usage:
 * words in lower case, then placeholders in capitals, `[…]` if they may be
 * left out and `...` if there may be several.  A placeholder's name is its
 * type (value.c), so it is checked before anything is done.
 *
 * Most commands are SQL and nothing else: `:instance` in the text stands for
 * the argument INSTANCE or the option --instance, bound as a parameter, null
 * if it was not given.
 */
#ifndef CONSOLE_COMMAND_H
#define CONSOLE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct console;
struct error;

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3, /* some targets refused */
	/* the result of an instance that was waited for */
	EXIT_WARNING = 10,
	EXIT_ERROR = 11,
	EXIT_ABORTED = 12,
	/* it has not ended in time */
	EXIT_UNDER_WAY = 13,
	EXIT_PERSON = 14, /* it waits for an operator */
};

enum needs {
	NEEDS_WORKSPACE, /* a session, and the schema of our version */
	NEEDS_DATABASE,  /* a session */
	NEEDS_NOTHING,   /* or what it opens itself */
};

/* How long the server may work on one statement of a command. */
enum {
	DEFAULT_LIMIT_S = 60, /* for a command without one: a quick look */
	NO_LIMIT = -1,
};

struct option {
	const char *name;
	char letter; /* '\0': none */
	bool repeats;
	const char *value; /* placeholder, its type; NULL: a flag */
	const char *text;  /* its purpose, in one line */
};

struct command {
	const char *pattern;
	const char *summary;
	const char *options; /* names, separated by spaces; NULL: none */
	/* the role it takes: named when the database refuses */
	const char *role;
	enum needs needs;

	/* Either `sql`, whose rows are printed, or `run`, which may use it. */
	const char *sql;
	enum exit_code (*run)(struct console *console, struct error *err);

	const char *shown; /* columns of a table; NULL: all */
	const char *whole; /* those that a table never cuts; NULL: none */
	const char *none;  /* printed when there are no rows; NULL: nothing */
	/*
	 * The error when there are no rows; NULL: then it is not an error.
	 * ":WORKFLOW" stands for the argument, ":TARGET" also for its kind:
	 * "instance 8".
	 */
	const char *missing;
	bool is_record;     /* show a row as a block, not as a line */
	bool rows_are_bad;  /* fail when there are rows */
	bool destroys;      /* never offered to somebody who mistyped */
	int limit_s;        /* 0: DEFAULT_LIMIT_S */
	const char *detail; /* more for `help COMMAND`; NULL: nothing */
};

/*
 * commands.c: step through all of them in the order of the help.  Begin with NULL;
 * NULL is the end.
 */
const struct command *command_next(const struct command *command);

/* The group of a command: a heading of the help. */
const char *command_group(const struct command *command);

/* options.c: the options of commands, and those before any command. */
extern const struct option command_options[];
extern const size_t command_option_count;
extern const struct option global_options[];
extern const size_t global_option_count;

/* Whether the command takes the option. */
bool command_takes(const struct command *command, const struct option *option);

/* The placeholders of a pattern, one after another. */
struct placeholder {
	const char *name; /* not NUL-terminated */
	size_t len;
	bool is_optional;
	bool repeats;
};

/*
 * Step through `pattern`: `*at` starts at 0; false at the end.  Words are
 * passed over.
 */
bool pattern_next(const char *pattern, size_t *at, struct placeholder *found);

/* The length of the words at the start of a pattern: 9 for "group set NAME". */
size_t pattern_words(const char *pattern);

/*
 * Whether both begin with the same words; then the types of placeholders
 * decide.
 */
bool command_same_words(const struct command *a, const struct command *b);

#endif
