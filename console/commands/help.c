/*
 * help.c - the commands about the console itself.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "help [COMMAND...]",
	  .summary = "Show all commands, or one in full",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_help },

	{ .pattern = "man",
	  .summary = "Print the manual page, for man(1)",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_man },

	{ .pattern = "completion bash",
	  .summary = "Print what lets bash complete commands and options",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_completion_bash,
	  .detail = "It is installed with the program; else: source <(wf-console completion bash)" },

	{ .pattern = "completion zsh",
	  .summary = "Print what lets zsh complete commands and options",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_completion_zsh,
	  .detail = "It is installed with the program; else, behind compinit:\n"
		    "source <(wf-console completion zsh)" },

	{ .pattern = "version",
	  .summary = "Show the version",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_version },
};

const struct command_group command_help = GROUP("help", rows);
