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

/* Text that means nothing to roff; lines are filled. */
static void
put(const char *text)
{
	bool is_start = true;

	for (; *text != '\0'; text++) {
		if (is_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
		is_start = *text == '\n';
	}
}

static void
put_option(const struct option *option)
{
	printf(".TP\n.B ");
	if (option->letter != '\0')
		printf("\\-%c, ", option->letter);
	put("--");
	put(option->name);
	if (option->value != NULL) {
		putchar(' ');
		put(option->value);
	}
	putchar('\n');
	put(option->text);
	printf("%s.\n", option->repeats ? "; repeatable" : "");
}

static void
put_command(const struct command *command)
{
	const char *separator = "Options: ";
	size_t i;

	printf(".TP\n.B ");
	put(command->pattern);
	putchar('\n');
	put(command->summary);
	printf(".\n");
	if (command->detail != NULL) {
		put(command->detail);
		putchar('\n');
	}
	for (i = 0; i < command_option_count; i++)
		if (command_takes(command, &command_options[i])) {
			put(separator);
			put("--");
			put(command_options[i].name);
			separator = ", ";
		}
	if (command->options != NULL)
		printf(".\n");
	if (command->role != NULL) {
		put("Takes the role ");
		put(command->role);
		printf(".\n");
	}
}

static void
put_commands(void)
{
	const struct command *command = NULL;
	const char *group = "";

	printf(".SH COMMANDS\n");
	while ((command = command_next(command)) != NULL) {
		if (strcmp(command_group(command), group) != 0) {
			group = command_group(command);
			printf(".SS \"");
			put(group);
			printf("\"\n");
		}
		put_command(command);
	}
}

enum exit_code
cmd_man(struct console *console, struct error *err)
{
	size_t i;

	(void)console;
	(void)err;
	printf(".TH WF\\-CONSOLE 1 \"\" \"pgwf " PGWF_VERSION "\"\n"
	       ".SH NAME\nwf\\-console \\- write, run, watch, explain and "
	       "repair workflows\n"
	       ".SH SYNOPSIS\n.B wf\\-console\n[OPTION...] COMMAND ...\n");
	put_commands();
	printf(".SH OPTIONS OF COMMANDS\n");
	for (i = 0; i < command_option_count; i++)
		put_option(&command_options[i]);
	printf(".SH OPTIONS\nThese go before the command or behind it.\n");
	for (i = 0; i < global_option_count; i++)
		put_option(&global_options[i]);
	printf(".SH EXIT STATUS\n0 done, 1 failed, 2 usage, 3 some targets "
	       "refused.\nOf an instance that was waited for: 0 success, 10 "
	       "warning, 11 error, 12 aborted.\n"
	       ".SH ENVIRONMENT\n"
	       "PG* variables, service and password files work as with every "
	       "program of PostgreSQL.\n"
	       ".B PGWF_HOME\nis the directory of a workspace of your own,\n"
	       ".B WF_TRUST_NETWORK\nsilences the warning of a connection "
	       "that others can read or change,\n"
	       ".B WF_LIBRARY\nlists folders of task types that need no "
	       "import, and\n.B NO_COLOR\nturns colours off.\n"
	       ".SH SEE ALSO\n.BR psql (1)\n");
	return EXIT_DONE;
}
