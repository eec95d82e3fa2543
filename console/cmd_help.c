/*
 * cmd_help.c - help and version, printed from the command table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/known_word.h"

#ifndef PGWF_VERSION
#error "PGWF_VERSION is given by the build"
#endif

static const char *
bold(const struct console *console)
{
	return terminal_begin(&console->terminal, STYLE_BOLD);
}

static const char *
plain(const struct console *console)
{
	return terminal_end(&console->terminal, STYLE_BOLD);
}

static void
print_option(const struct console *console, const struct option *option)
{
	struct buf usage;

	buf_init(&usage, 0);
	if (option->letter != '\0')
		buf_addf(&usage, "-%c, ", option->letter);
	else
		buf_adds(&usage, "    ");
	buf_addf(&usage, "--%s", option->name);
	if (option->value != NULL)
		buf_addf(&usage, " %s", option->value);
	fprintf(console->out, "  %-26s  %s%s\n", usage.data, option->text,
	    option->repeats ? "; repeatable" : "");
	buf_release(&usage);
}

static void
print_globals(const struct console *console)
{
	size_t i;

	fprintf(
	    console->out, "\n%sEverywhere:%s\n", bold(console), plain(console));
	for (i = 0; i < global_option_count; i++)
		print_option(console, &global_options[i]);
}

static void
print_all(const struct console *console)
{
	const struct command *command = NULL;
	const char *group = "";

	fprintf(console->out,
	    "wf-console: write, run, watch, explain and repair workflows.\n"
	    "\n%sUsage:%s wf-console [OPTION...] COMMAND ...\n",
	    bold(console), plain(console));
	while ((command = command_next(command)) != NULL) {
		if (strcmp(command_group(command), group) != 0) {
			group = command_group(command);
			fprintf(console->out, "\n%s%s%s\n", bold(console),
			    group, plain(console));
		}
		fprintf(console->out, "  %-26s  %s\n", command->pattern,
		    command->summary);
	}
	print_globals(console);
	fprintf(console->out,
	    "\nPG* variables, service and password files work as with every\n"
	    "program of PostgreSQL.\n"
	    "\nExit codes: 0 done, 1 failed, 2 usage, 3 some targets refused.\n"
	    "Of an instance that was waited for: 0 success, 10 warning,\n"
	    "11 error, 12 aborted.\n");
}

static void
print_command(const struct console *console, const struct command *command)
{
	size_t i;

	fprintf(console->out, "%sUsage:%s wf-console %s%s\n\n%s.\n",
	    bold(console), plain(console), command->pattern,
	    command->options != NULL ? " [OPTION...]" : "", command->summary);
	if (command->detail != NULL)
		fprintf(console->out, "%s\n", command->detail);
	if (command->role != NULL)
		fprintf(console->out, "Takes the role %s.\n", command->role);
	if (command->options != NULL)
		fprintf(console->out, "\n%sOptions:%s\n", bold(console),
		    plain(console));
	for (i = 0; i < command_option_count; i++)
		if (command_takes(command, &command_options[i]))
			print_option(console, &command_options[i]);
}

/* The words after "help", joined; for `COMMAND --help`, the command's own. */
static char *
wanted_words(const struct console *console)
{
	const struct command *command = console->invocation.command;
	const char *word;
	struct buf words;
	size_t at = 0;

	buf_init(&words, 0);
	if (command->run != cmd_help)
		buf_add(
		    &words, command->pattern, pattern_words(command->pattern));
	while ((word = invocation_next(&console->invocation, "COMMAND", &at)) !=
	       NULL)
		buf_addf(&words, "%s%s", words.len > 0 ? " " : "", word);
	return buf_take(&words);
}

/* Whether the command's words are `wanted`, or begin with it. */
static bool
is_wanted(const struct command *command, const char *wanted)
{
	size_t len = strlen(wanted);

	return strncmp(command->pattern, wanted, len) == 0 &&
	       len <= pattern_words(command->pattern) &&
	       (command->pattern[len] == ' ' || command->pattern[len] == '\0');
}

static enum exit_code
refuse(const char *wanted, struct error *err)
{
	error_set(err, "unknown command \"%s\"", wanted);
	known_word_hint(wanted, "help ", err);
	return EXIT_USAGE;
}

enum exit_code
cmd_help(struct console *console, struct error *err)
{
	char *wanted = wanted_words(console);
	const struct command *command = NULL, *last = NULL;
	enum exit_code code = EXIT_DONE;

	if (wanted[0] == '\0') {
		print_all(console);
		free(wanted);
		return EXIT_DONE;
	}
	while ((command = command_next(command)) != NULL) {
		if (!is_wanted(command, wanted))
			continue;
		if (last != NULL)
			putc('\n', console->out);
		print_command(console, command);
		last = command;
	}
	if (last == NULL)
		code = refuse(wanted, err);
	free(wanted);
	return code;
}

enum exit_code
cmd_version(struct console *console, struct error *err)
{
	(void)console;
	(void)err;
	fprintf(console->out, "wf-console %s\n", PGWF_VERSION);
	return EXIT_DONE;
}
