/*
 * commands.c - every command there is, in the order of the help.
 */
#include "console/commands.h"

#include "console/command.h"
#include "console/commands/group.h"

static const struct command_group *const groups[] = {
	&command_authoring,
	&command_running,
	&command_outside,
	&command_schedule,
	&command_explaining,
	&command_repairing,
	&command_operating,
	&command_rights,
	&command_local,
	&command_help,
};

enum {
	GROUP_COUNT = sizeof(groups) / sizeof(groups[0]),
};

/* The place of the group that holds `command`. */
static size_t
group_of(const struct command *command)
{
	size_t i = 0;

	while (command < groups[i]->rows ||
	       command >= groups[i]->rows + groups[i]->count)
		i++;
	return i;
}

const struct command *
command_next(const struct command *command)
{
	size_t i;

	if (command == NULL)
		return groups[0]->rows;
	i = group_of(command);
	if (++command < groups[i]->rows + groups[i]->count)
		return command;
	return ++i < GROUP_COUNT ? groups[i]->rows : NULL;
}

const char *
command_group(const struct command *command)
{
	return groups[group_of(command)]->name;
}
