/*
 * workspace.h - the scripts that make, change and remove a workspace.
 */
#ifndef CONSOLE_WORKSPACE_H
#define CONSOLE_WORKSPACE_H

#include <stdbool.h>

struct error;
struct pg_target;

/*
 * Run a script of workspace-sql, such as "install.sql", with psql.  On failure
 * the error is the first one that psql printed.
 */
bool workspace_script(
    const struct pg_target *target, const char *script, struct error *err);

#endif
