/*
 * program.h - where this program's own files and companions are.
 *
 * In a build tree they are found from the program itself, so that it can be
 * tried without being installed; otherwise where the build put them.
 */
#ifndef CONSOLE_PROGRAM_H
#define CONSOLE_PROGRAM_H

struct error;

/*
 * A file of workspace-sql, "install.sql" say, for the caller to free(); NULL
 * with `err` set if it is nowhere.
 */
char *program_sql_file(const char *name, struct error *err);

/* Another of our programs: beside this one, else to be looked up in PATH. */
char *program_companion(const char *name);

#endif
