/*
 * local.c - the commands for a workspace of your own.
 */
#include "console/commands/group.h"

/* clang-format off */

static const struct command rows[] = {

	{ .pattern = "local start",
	  .summary = "Start a private PostgreSQL, workspace and driver",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .role = ADMIN,
	  .run = cmd_local_start,
	  .is_record = true,
	  .detail = "Reached through a socket in its directory only. While it runs, commands that\n"
		    "name no database (no -d, -h, -p, no PG* variables) speak to it.\n"
		    "Without --dir and PGWF_HOME it is in ~/.local/share/pgwf, for root in\n"
		    "/var/lib/pgwf." },

	{ .pattern = "local run FILE [WORKFLOW]",
	  .summary = "Start it if need be, and run a file there",
	  .options = "dir " COMPILE_OPTIONS " " START_OPTIONS,
	  .needs = NEEDS_NOTHING,
	  .role = AUTHOR,
	  .run = cmd_local_run,
	  .limit_s = ACTING_S },

	{ .pattern = "local status",
	  .summary = "Show what of it runs and how to reach it",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_local_status,
	  .is_record = true },

	{ .pattern = "local stop",
	  .summary = "Stop all of it; nothing is left but the directory",
	  .options = "dir",
	  .needs = NEEDS_NOTHING,
	  .run = cmd_local_stop,
	  .is_record = true },
};

const struct command_group command_local = GROUP("a workspace of your own", rows);
