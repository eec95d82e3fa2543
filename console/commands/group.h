/*
 * group.h - the groups of commands, as the help shows them.  Each group is a table
 * in a file of this folder.
 *
 * A row with `sql` is complete: its rows are printed.  A row with `run` is
 * one of the few that need C; it may still keep its SQL in the table.
 */
#ifndef CONSOLE_COMMANDS_GROUP_H
#define CONSOLE_COMMANDS_GROUP_H

#include <stddef.h>

#include "console/command.h"
#include "console/commands.h"

#define VIEWER "wf_viewer"
#define APP "wf_app"
#define AUTHOR "wf_author"
#define OPERATOR "wf_operator"
#define ADMIN "wf_admin"

#define ACTING_S 600 /* for commands that may touch much in one statement */

#define COMPILE_OPTIONS "import library"
#define START_OPTIONS "param params key priority tag"

struct command_group {
	const char *name; /* heading of the help */
	const struct command *rows;
	size_t count;
};

#define GROUP(heading, table) \
	{ \
		(heading), (table), sizeof(table) / sizeof((table)[0]) \
	}

extern const struct command_group command_authoring, command_running,
    command_outside, command_schedule, command_explaining, command_repairing,
    command_operating, command_rights, command_local, command_help;

#endif
