/*
 * cmd_man.c - the manual page wf-console(1), printed from the command table.
 */
#include <stdio.h>
#include <string.h>

#include "console/commands.h"
#include "console/console.h"

#ifndef PGWF_VERSION
#error "PGWF_VERSION is given by the build"
#endif

/* Text without special meaning for roff, which fills the lines. */
static void
put(FILE *out, const char *text)
{
	bool is_start = true;

	for (; *text != '\0'; text++) {
		if (is_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			putc(*text, out);
		is_start = *text == '\n';
	}
}

static void
put_option(FILE *out, const struct option *option)
{
	fprintf(out, ".TP\n.B ");
	if (option->letter != '\0')
		fprintf(out, "\\-%c, ", option->letter);
	put(out, "--");
	put(out, option->name);
	if (option->value != NULL) {
		putc(' ', out);
		put(out, option->value);
	}
	putc('\n', out);
	put(out, option->text);
	fprintf(out, "%s.\n", option->repeats ? "; repeatable" : "");
}

static void
put_command(FILE *out, const struct command *command)
{
	const char *separator = "Options: ";
	size_t i;

	fprintf(out, ".TP\n.B ");
	put(out, command->pattern);
	putc('\n', out);
	put(out, command->summary);
	fprintf(out, ".\n");
	if (command->detail != NULL) {
		put(out, command->detail);
		putc('\n', out);
	}
	for (i = 0; i < command_option_count; i++)
		if (command_takes(command, &command_options[i])) {
			put(out, separator);
			put(out, "--");
			put(out, command_options[i].name);
			separator = ", ";
		}
	if (command->options != NULL)
		fprintf(out, ".\n");
	if (command->role != NULL) {
		put(out, "Takes the role ");
		put(out, command->role);
		fprintf(out, ".\n");
	}
}

static void
put_commands(FILE *out)
{
	const struct command *command = NULL;
	const char *group = "";

	fprintf(out, ".SH COMMANDS\n");
	while ((command = command_next(command)) != NULL) {
		if (strcmp(command_group(command), group) != 0) {
			group = command_group(command);
			fprintf(out, ".SS \"");
			put(out, group);
			fprintf(out, "\"\n");
		}
		put_command(out, command);
	}
}

enum exit_code
cmd_man(struct console *console, struct error *err)
{
	FILE *out = console->out;
	size_t i;

	(void)err;
	fprintf(out,
	    ".TH WF\\-CONSOLE 1 \"\" \"pgwf " PGWF_VERSION "\"\n"
	    ".SH NAME\nwf\\-console \\- write, run, watch, explain and "
	    "repair workflows\n"
	    ".SH SYNOPSIS\n.B wf\\-console\n[OPTION...] COMMAND ...\n");
	put_commands(out);
	fprintf(out, ".SH OPTIONS OF COMMANDS\n");
	for (i = 0; i < command_option_count; i++)
		put_option(out, &command_options[i]);
	fprintf(
	    out, ".SH OPTIONS\nThese go before the command or behind it.\n");
	for (i = 0; i < global_option_count; i++)
		put_option(out, &global_options[i]);
	fprintf(out,
	    ".SH EXIT STATUS\n0 done, 1 failed, 2 usage, 3 some targets "
	    "refused.\nOf an instance that was waited for: 0 success, 10 "
	    "warning, 11 error, 12 aborted.\n"
	    ".SH ENVIRONMENT\n"
	    "PG* variables, service and password files work as with every "
	    "program of PostgreSQL.\n"
	    ".B PGWF_HOME\nis the directory of a workspace of your own,\n"
	    ".B WF_TRUST_NETWORK\nsilences the warning of a connection "
	    "that others can read or change,\n"
	    ".B WF_LIBRARY\nlists folders, as \\-L does, with a colon "
	    "between them, and\n.B NO_COLOR\nturns colours off.\n"
	    ".SH SEE ALSO\n.BR psql (1)\n");
	return EXIT_DONE;
}
